"""LLM-Personalize's experiments: the paper's tables and figures, memories of people, and wrappers."""
