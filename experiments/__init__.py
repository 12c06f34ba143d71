"""Experiments: grids of runs, their measures and results, and the documents that quote them."""
