"""STARS: goals from a language model, believed only after the robot has checked them (Kirk et al., AAAI 2024)."""
