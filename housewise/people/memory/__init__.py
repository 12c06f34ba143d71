"""The memory of a person: notes about what they showed, answered, agreed to and confirmed."""

from housewise.people.memory.folder import MemoryFolder, RulesFile
from housewise.people.memory.memory import Memory, RecalledNote
from housewise.people.memory.note import About, Kind, Note, Source

__all__ = ["About", "Kind", "Memory", "MemoryFolder", "Note", "RecalledNote", "RulesFile", "Source"]
