"""A robot puts things into drawers, a person says whether that was right, and the robot remembers it."""

import housewise.plugins as hw

DRAWERS = ("top", "middle", "bottom")
THINGS = ("spoon", "fork", "knife", "whisk", "ladle", "peeler")


class DrawerSettings(hw.RunSettings):
    people: tuple[str, ...] = ("ann", "ben")


class Put(hw.Event):
    thing: str
    drawer: str
    liked: bool


# The world, with a person who reacts to every action. An action is the name of a drawer.
class Chest(hw.World[str, str]):
    def __init__(self, person: str, memory: hw.Memory) -> None:
        self.person, self.memory, self.left, self.right = person, memory, list(THINGS), 0

    def reset(self) -> str:
        return self.left[0]

    def step(self, action: str) -> hw.Step[str]:
        thing = self.left.pop(0)
        liked = action == DRAWERS[sum(map(ord, self.person + thing)) % len(DRAWERS)]
        self.right += liked
        text = f"The {thing} {'belongs' if liked else 'does not belong'} in the {action} drawer."
        about, value = hw.About(things=(thing,), receptacle=action), 1.0 if liked else -1.0
        note = hw.Note(person=self.memory.person, kind="reaction", text=text, about=about, value=value)
        events = (Put(thing=thing, drawer=action, liked=liked), hw.NoteEvent(note=note))
        return hw.Step(self.left[0] if self.left else "", events, over=not self.left, end_reason="all put away")

    def scores(self) -> dict[str, float]:
        return {"liked": self.right / len(THINGS)}


def choose(thing: str, memory: hw.Memory) -> hw.Decision[str]:
    """The agent: it chooses a drawer that was liked, or else one that was not disliked."""
    notes = [found.note for found in memory.recall(hw.About(things=(thing,)), max_results=9)]
    liked = {note.about.receptacle: note.value == 1.0 for note in notes}
    return hw.Decision([max(DRAWERS, key=lambda drawer: liked.get(drawer, 0.5))])


class Drawers(hw.System[DrawerSettings]):
    name = "drawers"
    events = (Put,)
    scores = (hw.Score("liked", column="liked", unit="%", better="higher", scale=100, error=True),)
    roles = ()
    uses_memory = True

    def tasks(self) -> list[hw.Task]:
        return [hw.Task(f"drawers-{person}", "drawers", person) for person in self.settings.people]

    def open(self, context: hw.EpisodeContext) -> hw.EpisodeSetup:
        memory = context.own_memory
        return hw.EpisodeSetup(Chest(context.job.task.person, memory), lambda thing, history: choose(thing, memory))
