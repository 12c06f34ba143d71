"""Who lives in the house, and what they want."""
