"""Runs of every system: episodes are scheduled, played, recorded, resumed and compared."""
