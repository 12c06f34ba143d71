"""Former names that keep working.

``code_names`` has those of modules, classes and functions for authors of plugins, ``settings`` those of settings,
``record_fields`` those of fields of records (``rollout.record_reader`` applies them), and ``options`` those of options
of the command line.
"""
