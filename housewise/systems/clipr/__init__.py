"""The CLIPR system for ``housewise run``: settings, world, agent, records and scores."""
