"""The parsed form of a goal sentence: clauses over noun phrases."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NounPhrase:
    """A noun phrase.

    Attributes:
        noun: Noun as it was written.
        modifiers: Words before the noun.
        attached: Attached phrase without its preposition, such as "the desk" of "the cup on the desk", or None.
        is_denied: Whether the phrase denies existence, as in "there is no cup". No perceived thing matches it then.
    """

    noun: str
    modifiers: tuple[str, ...] = ()
    attached: NounPhrase | None = None
    is_denied: bool = False

    def __str__(self) -> str:
        return " ".join(("no" if self.is_denied else "the", *self.modifiers, self.noun))

    @property
    def with_attached(self) -> tuple[NounPhrase, ...]:
        """This phrase and all phrases attached to it."""
        return (self, *(self.attached.with_attached if self.attached else ()))


@dataclass(frozen=True)
class PlacementClause:
    """States that something is somewhere.

    Attributes:
        subject: What is placed.
        relation: ``in``, ``on``, ``under`` or ``next to``.
        target: Where it is placed.
    """

    subject: NounPhrase
    relation: str
    target: NounPhrase


@dataclass(frozen=True)
class StateClause:
    """States that something is in a state, such as ``closed``."""

    subject: NounPhrase
    state: str


GoalClause = PlacementClause | StateClause


def noun_phrases(clause: GoalClause) -> tuple[NounPhrase, ...]:
    """Return the noun phrases of a clause in their order."""
    return clause.subject.with_attached + (clause.target.with_attached if isinstance(clause, PlacementClause) else ())
