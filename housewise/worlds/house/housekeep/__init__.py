"""Readers of the Housekeep data: scenes, object models, annotations and episodes."""
