"""The methods that CLIPR is compared with; see housewise.agent.clipr.methods."""
