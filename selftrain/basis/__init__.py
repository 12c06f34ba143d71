"""Training of the assistant that learns to guide (BASIS, stage 2)."""
