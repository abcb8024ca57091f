"""Where text comes from: one file per service beside interface.py."""
