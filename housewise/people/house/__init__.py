"""People of the simulated house: their answers about where things belong, and their reactions to placements."""
