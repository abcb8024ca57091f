"""The rules of the one door to the network, split from the door itself.

Job: name the package. `omh_research.transport` is the only way in; these modules are its rules
(which URL, which address, how much, how often) and hold no HTTP client. Refuses to re-export.
Importers: transport, providers.
"""
