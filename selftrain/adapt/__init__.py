"""What learns when a question pays (ADAPT, arXiv 2504.04040): a warm-up, STaR-GATE, and Reflection-DPO."""
