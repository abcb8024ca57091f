"""Web sources: search services and page readers.

Job: name the package; it re-exports nothing so that one provider loads alone. Importers: cli.web,
wiring.
"""
