"""BASIS (COLM 2025): an assistant guides a person who acts in a lab."""
