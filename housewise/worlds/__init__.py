"""Worlds that a robot can be put into."""
