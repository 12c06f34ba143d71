"""A system of its own for Housewise, and a few smaller parts."""
