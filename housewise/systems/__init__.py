"""The systems of ``housewise run``: each puts the world, the agent and the people of a paper together."""
