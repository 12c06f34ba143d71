"""What a model learns for CLIPR: to choose by rules."""
