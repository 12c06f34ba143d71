"""Recorded episodes played again: their states, pictures, floor plans and per-object outcomes."""
