"""ADAPT's experiments: breakfast for sixteen people in the text kitchen."""
