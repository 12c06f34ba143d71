"""The agent of LLM-Personalize: planners, their prompts and parsers, and recalled preferences."""
