"""What Housewise adds to LLMPlanner: wrappers of a planner, each with an ablation of its own (docs/personalize.md)."""
