"""A kitchen of words: entities, where they are and what state they are in, and the text world built on them."""
