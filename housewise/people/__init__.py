"""People: what they want, how they answer and react, and what is remembered about them.

``respondent.py`` is the interface of everybody who can be asked. ``house/``, ``kitchen/`` and ``choices/`` hold the
preferences and respondents of one world each. ``memory/`` holds the notes about a person.
"""
