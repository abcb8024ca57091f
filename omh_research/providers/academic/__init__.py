"""Scholarly providers: one module per service, a shared record, one way to ask them.

Job: name the package; it re-exports nothing so that importing one provider loads one provider.
Refuses to rank, merge or judge. Importers: tools.academic, literature, wiring.
"""
