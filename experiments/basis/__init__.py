"""BASIS (Zhang et al., COLM 2025): people in the lab with the oracle, and controls."""
