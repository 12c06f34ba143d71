"""What Housewise adds to LLMPlanner, each with an ablation of its own (docs/personalize.md)."""
