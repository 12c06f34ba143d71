"""Single decisions between actions (CLIPR): scenarios, sets of choices, and readers of their files."""
