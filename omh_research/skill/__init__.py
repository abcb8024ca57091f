"""The Agent Skill that teaches a host to drive the engine, and its installer (spec D10, D10c).

Job: ship `data/` (SKILL.md with references, and two aliases) and put it where a host looks.
Refuses to touch a folder that is not ours. Importers: cli.
"""
