"""One memory of a person: what they showed, answered, agreed to and confirmed, in readable lines."""

from housewise.people.memory.folder import MemoryFolder
from housewise.people.memory.memory import Memory, RecalledNote
from housewise.people.memory.note import About, Kind, Note, Source

__all__ = ["About", "Kind", "Memory", "MemoryFolder", "Note", "RecalledNote", "Source"]
