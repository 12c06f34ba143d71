"""Self-training: what each system's model learns from, trainers, and rollout engines."""
