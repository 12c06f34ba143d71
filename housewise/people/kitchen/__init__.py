"""People of the text kitchen: profiles with breakfast preferences, their evaluation, and a respondent (ADAPT)."""
