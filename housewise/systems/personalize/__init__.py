"""LLM-Personalize: world, agent, settings and records of the robot that tidies a house."""
