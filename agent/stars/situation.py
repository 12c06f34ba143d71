"""What the robot perceives: things with their kinds and affordances, and which of them a noun phrase means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from housewise.agent.stars.goal_clauses import NounPhrase
from housewise.agent.stars.vocabulary import RobotVocabulary


@dataclass(frozen=True)
class PerceivedThing:
    """An object, a fixture or the room.

    Attributes:
        name: what tells it from others, for example ``mug_31`` or ``recycling bin``.
        noun: what it is called; things of one noun may be many.
        modifiers: words that may stand before the noun.
        kinds: more general nouns that it can be called by.
        affordances: what can be done with it, for example ``grabbable``.
    """

    name: str
    noun: str
    modifiers: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    affordances: frozenset[str] = frozenset()

    def called(self, noun: str, modifiers: Sequence[str]) -> bool:
        """Whether a noun with modifiers can mean this thing."""
        return (noun == self.noun or noun in self.kinds) and self.modifiers.issuperset(modifiers)


@dataclass(frozen=True)
class PerceivedScene:
    """What there is to speak of.

    Attributes:
        things: all that is perceived, the room among them.
        about: the thing that is asked about; where a noun can mean it, it does.
    """

    things: tuple[PerceivedThing, ...]
    about: PerceivedThing | None = field(default=None)

    def with_focus(self, thing: PerceivedThing | None) -> PerceivedScene:
        """The same situation with a question about another thing."""
        return replace(self, about=thing)

    def ground(self, referent: NounPhrase, vocabulary: RobotVocabulary) -> tuple[PerceivedThing, ...]:
        """The perceived things that a noun phrase can mean; none where it is ungrounded."""
        if referent.absent:
            return ()
        noun = vocabulary.meaning(referent.noun)
        found = tuple(thing for thing in self.things if thing.called(noun, referent.modifiers))
        return (self.about,) if self.about in found and self.about is not None else found
