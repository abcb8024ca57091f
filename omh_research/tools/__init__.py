"""Deterministic evidence tools: pure functions, no model, same input gives the same bytes."""
