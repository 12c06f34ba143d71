"""Self-training of LLM-Personalize: demonstrations, imitation, then ReST with filters and relabelled replies."""
