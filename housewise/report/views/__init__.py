"""How the report shows the episodes of each system, one module per system."""
