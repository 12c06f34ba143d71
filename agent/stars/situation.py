"""The perceived scene and the robot in it: things with their affordances, and what the robot can do with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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
    about: PerceivedThing | None = None

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


@dataclass(frozen=True)
class TargetRequirement:
    """What a relation requires of its target.

    Attributes:
        needs: Affordance that the target must have.
        forbids: Affordance that the target must not have.
        reason: Property that is reported as missing.
    """

    reason: str
    needs: str | None = None
    forbids: str | None = None

    def is_met_by(self, thing: PerceivedThing) -> bool:
        """Return whether a thing can be the target."""
        return (self.needs is None or self.needs in thing.affordances) and self.forbids not in thing.affordances


@dataclass(frozen=True)
class RobotAbilities:
    """What the robot can do. A robot with another gripper is another data file.

    Attributes:
        moves: Affordance of things that the robot can carry.
        relations: Requirements of relations on their targets. Other relations require nothing.
    """

    moves: str
    relations: Mapping[str, TargetRequirement]
