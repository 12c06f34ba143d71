"""The robot's body: high-level actions carried out by low-level ones."""
