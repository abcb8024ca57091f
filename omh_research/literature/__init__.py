"""The literature bundle: recall, normalise, de-duplicate, audit."""
