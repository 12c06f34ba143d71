"""STARS (Kirk et al., AAAI 2024): the paper's tables, from recorded responses and from scratch."""
