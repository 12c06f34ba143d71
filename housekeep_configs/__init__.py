"""Bundled YAML files: configurations, prompts, people, task sets and scenarios."""
