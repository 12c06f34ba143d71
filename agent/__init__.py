"""Agents of the systems, with a package per paper, and the protocol that a run drives them by."""
