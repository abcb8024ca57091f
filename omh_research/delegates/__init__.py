"""Who thinks: one file per delegate beside interface.py, found by name in registry.py."""
