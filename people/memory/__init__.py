from .shim import About, Memory, MemoryFolder, Note  # noqa
