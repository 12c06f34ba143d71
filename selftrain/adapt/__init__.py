"""Training for ADAPT (arXiv 2504.04040): a warm-up, STaR-GATE, and Reflection-DPO, which learns when to ask."""
