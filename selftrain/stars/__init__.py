"""Training for STARS: a model learns in generated rooms to write goals and to choose between them."""
