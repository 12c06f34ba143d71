"""The simulated house: scenes, episodes and simulators, the robot's actions and scene graph, and rewards."""
