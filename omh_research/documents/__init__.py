"""What each file and message says: frozen types, parsing and rendering, no I/O."""
