"""Answering from documents without a model: planning, choosing quotes, reporting, checking."""
