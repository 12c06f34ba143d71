"""The ADAPT system for ``housewise run``: settings, world, agent, records and scores."""
