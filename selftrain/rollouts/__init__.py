"""Rollout engines: where the model of a phase answers while episodes are played, in this program or behind vLLM."""
