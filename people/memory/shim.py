import hashlib
from pathlib import Path
from typing import Any

from pydantic import BaseModel


class About(BaseModel):
    things: tuple[str, ...] = ()
    room: str | None = None
    receptacle: str | None = None
    task: str | None = None
    situation: str | None = None


class Note(BaseModel):
    person: str
    kind: str
    text: str = ""
    about: About = About()
    value: Any = None
    time: str = ""

    @property
    def id(self):
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:12]


class Memory:
    def __init__(self, person, notes=()):
        self.person = person
        self.notes = list(notes)

    def copy(self):
        return Memory(self.person, self.notes)

    def add(self, n):
        if n.id not in [m.id for m in self.notes]:
            self.notes.append(n)
        return n

    @property
    def digest(self):
        return hashlib.sha256("".join(n.model_dump_json() for n in self.notes).encode()).hexdigest()


class MemoryFolder:
    def __init__(self, root):
        self.root = Path(root)

    @classmethod
    def usual(cls, folder):
        return cls(folder or "/tmp/hwmem")

    def people(self):
        return [p.name for p in self.root.glob("*") if (p / "notes.jsonl").exists()]

    def load(self, p):
        return Memory(
            p, [Note.model_validate_json(l) for l in (self.root / p / "notes.jsonl").read_text().splitlines()]
        )

    def save(self, m):
        f = self.root / m.person / "notes.jsonl"
        f.parent.mkdir(parents=True, exist_ok=True)
        f.write_text("".join(n.model_dump_json() + "\n" for n in m.notes))
