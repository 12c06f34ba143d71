"""What a goal sentence says, once it has been read: no text is parsed twice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NounPhrase:
    """A noun phrase.

    Attributes:
        noun: as it was said.
        modifiers: what stood before it.
        at: a further phrase that was attached ("the cup on the desk"), None for none.
        absent: whether there is said to be none of it ("there is no cup"); nothing perceived answers to that.
    """

    noun: str
    modifiers: tuple[str, ...] = ()
    at: NounPhrase | None = None
    absent: bool = False

    def __str__(self) -> str:
        return " ".join(("no" if self.absent else "the", *self.modifiers, self.noun))

    @property
    def all(self) -> tuple[NounPhrase, ...]:
        """This and what is attached to it."""
        return (self, *(self.at.all if self.at else ()))


@dataclass(frozen=True)
class PlacementClause:
    """Something is somewhere.

    Attributes:
        relation: ``in``, ``on``, ``under`` or ``next to``.
    """

    subject: NounPhrase
    relation: str
    target: NounPhrase


@dataclass(frozen=True)
class StateClause:
    """Something is in a state, for example closed, or absent."""

    subject: NounPhrase
    state: str


GoalClause = PlacementClause | StateClause


def noun_phrases(clause: GoalClause) -> tuple[NounPhrase, ...]:
    """What a clause speaks of, in the order in which it is said."""
    return clause.subject.all + (clause.target.all if isinstance(clause, PlacementClause) else ())
