"""The language steps of CLIPR without a language model: contrasts, typed rules and sentence embeddings."""
