"""A robot puts things into drawers, a person says whether that was right, and the robot remembers it."""

import zlib
from collections.abc import Mapping, Sequence
from typing import ClassVar

from housewise.agent.base import Decision, History
from housewise.core.record import Event, Frozen
from housewise.core.settings import Settings
from housewise.people.memory import About, Memory, Note
from housewise.rollout.note_events import NoteEvent
from housewise.rollout.scores import Score
from housewise.rollout.settings import RunSettings, TaskSettings
from housewise.rollout.system import EpisodeContext, EpisodeSetup, System, Task
from housewise.worlds.base import Step

DRAWERS = ("top", "middle", "bottom")
THINGS = ("spoon", "fork", "knife", "whisk", "ladle", "peeler")


class DrawerTasks(TaskSettings):
    people: tuple[str, ...] = ("ann", "ben")


class DrawerAgent(Settings):
    curious: bool = True


class DrawerSettings(RunSettings):
    system: str = "drawers"
    tasks: DrawerTasks = DrawerTasks()
    agent: DrawerAgent = DrawerAgent()


class Put(Event):
    type: ClassVar[str] = "put"
    thing: str
    drawer: str
    liked: bool


class InitialState(Frozen):
    things: tuple[str, ...]


class Chest:
    """The world, with a person who reacts to every action. An action is the name of a drawer."""

    def __init__(self, person: str, memory: Memory) -> None:
        self.person, self.remembered = person, memory.person
        self.left, self.right = list(THINGS), 0

    def reset(self) -> str:
        return self.left[0]

    def step(self, drawer: str) -> Step[str]:
        thing = self.left.pop(0)
        liked = drawer == DRAWERS[zlib.crc32(f"{self.person} {thing}".encode()) % len(DRAWERS)]
        self.right += liked
        about = About(things=(thing,), receptacle=drawer)
        text = f"The {thing} {'belongs' if liked else 'does not belong'} in the {drawer} drawer."
        note = Note(person=self.remembered, kind="reaction", text=text, about=about, value=1.0 if liked else -1.0)
        events = (Put(thing=thing, drawer=drawer, liked=liked), NoteEvent(note=note))
        return Step(self.left[0] if self.left else "", events, over=not self.left)

    def scores(self) -> Mapping[str, float]:
        return {"liked": self.right / len(THINGS)}

    def final(self) -> Mapping[str, object]:
        return {}


class Tidier:
    """The agent: it chooses a drawer that was liked, or else one that was not disliked."""

    name = "tidier"

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def decide(self, observation: str, history: History[str]) -> Decision[str]:
        notes = [found.note for found in self._memory.recall(About(things=(observation,)), max_results=9)]
        liked = [note.about.receptacle for note in notes if note.value == 1.0]
        disliked = {note.about.receptacle for note in notes if note.value == -1.0}
        open_ = [drawer for drawer in DRAWERS if drawer not in disliked]
        return Decision([str((liked or open_ or list(DRAWERS))[0])])


class Drawers(System[DrawerSettings]):
    name = "drawers"
    Settings = DrawerSettings
    events = (Put,)
    scores = (Score("liked", column="liked", unit="%", better="higher", scale=100, error=True),)
    roles: Sequence[str] = ()
    uses_memory = True

    def tasks(self) -> Sequence[Task]:
        return [Task(f"drawers-{person}", "drawers", person) for person in self.settings.tasks.people]

    def open(self, context: EpisodeContext) -> EpisodeSetup:
        memory = context.memory
        assert memory is not None, "uses_memory is true"
        return EpisodeSetup(Chest(context.job.task.person, memory), Tidier(memory), InitialState(things=THINGS))
