"""Cooks of the text kitchen (ADAPT, arXiv 2504.04040)."""
