"""The perceived scene: things with their kinds and affordances, and the things that a noun phrase can mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from housewise.agent.stars.goal_clauses import NounPhrase
from housewise.agent.stars.vocabulary import RobotVocabulary


@dataclass(frozen=True)
class PerceivedThing:
    """An object, a fixture or the room.

    Attributes:
        name: Unique name, for example ``mug_31`` or ``recycling bin``.
        noun: Noun of the thing. Several things may share it.
        modifiers: Words that may precede the noun.
        kinds: More general nouns for the thing.
        affordances: What can be done with the thing, for example ``grabbable``.
    """

    name: str
    noun: str
    modifiers: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    affordances: frozenset[str] = frozenset()

    def can_be_called(self, noun: str, modifiers: Sequence[str]) -> bool:
        """Return whether a noun with modifiers can mean this thing."""
        return (noun == self.noun or noun in self.kinds) and self.modifiers.issuperset(modifiers)


@dataclass(frozen=True)
class PerceivedScene:
    """All things that can be referred to.

    Attributes:
        things: Everything perceived, including the room.
        about: Thing that the current question is about. A noun that can mean it does mean it.
    """

    things: tuple[PerceivedThing, ...]
    about: PerceivedThing | None = field(default=None)

    def with_focus(self, thing: PerceivedThing | None) -> PerceivedScene:
        """Return the same scene with a question about another thing."""
        return replace(self, about=thing)

    def ground(self, referent: NounPhrase, vocabulary: RobotVocabulary) -> tuple[PerceivedThing, ...]:
        """Return the perceived things that a noun phrase can mean; empty if the phrase is ungrounded."""
        if referent.is_denied:
            return ()
        noun = vocabulary.meaning(referent.noun)
        found = tuple(thing for thing in self.things if thing.can_be_called(noun, referent.modifiers))
        return (self.about,) if self.about in found and self.about is not None else found
