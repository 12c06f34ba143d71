"""The commands of ``housewise``: a module for each group; what a command works with is imported when it is given."""
