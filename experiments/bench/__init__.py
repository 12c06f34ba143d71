"""Benchmarks: speed and fidelity of simulators, local models and rollouts, each beside a peer in the same run."""
