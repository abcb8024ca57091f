"""A report in other forms: one view of it, one file a form (spec O6, L5)."""
