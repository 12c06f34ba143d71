"""CLIPR's experiments (arXiv 2605.12682): methods, ablations and transfer, and how well answers are understood."""
