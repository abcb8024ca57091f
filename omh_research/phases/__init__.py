"""The five phases, in order: decompose, search, gap_check, synthesize, verify."""
