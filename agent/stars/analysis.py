"""Checks a goal sentence as the robot would act on it: can it be understood, seen, and done? (STARS, analysis)"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from housewise.agent.stars.goal_clauses import GoalClause, NounPhrase, PlacementClause, noun_phrases
from housewise.agent.stars.goal_grammar import GoalLanguage
from housewise.agent.stars.situation import PerceivedScene, PerceivedThing
from housewise.agent.stars.vocabulary import is_too_long, split_words


class MismatchKind(Enum):
    """Why a goal is not viable, in the order in which one reason is given where there are several."""

    UNINTERPRETABLE = "uninterpretable"
    UNKNOWN_WORD = "unknown-word"
    UNGROUNDED = "ungrounded-object"
    AFFORDANCE = "affordance-mismatch"


@dataclass(frozen=True)
class Mismatch:
    """One thing that is wrong with a goal.

    Attributes:
        what: the unknown word, the noun that nothing perceived answers to, or the property that is missing
            (``grabbable``, ``receptacle``, ``surface`` or a state); None for an uninterpretable sentence.
        thing: the noun of the thing that lacks the property.
    """

    kind: MismatchKind
    what: str | None = None
    thing: str | None = None


@dataclass(frozen=True)
class TargetRequirement:
    """What a relation asks of its target.

    Attributes:
        needs: an affordance that the target must have.
        forbids: an affordance that it must not have.
        reason: the property that is said to be missing.
    """

    reason: str
    needs: str | None = None
    forbids: str | None = None

    def met(self, thing: PerceivedThing) -> bool:
        """Whether a thing can be the target."""
        return (self.needs is None or self.needs in thing.affordances) and self.forbids not in thing.affordances


@dataclass(frozen=True)
class RobotAbilities:
    """What the robot can do, as data: another gripper is another file.

    Attributes:
        moves: the affordance of things that it can carry.
        relations: what relations ask of their targets; those that are not named ask nothing.
    """

    moves: str = "grabbable"
    relations: Mapping[str, TargetRequirement] = field(
        default_factory=lambda: {
            "in": TargetRequirement("receptacle", needs="receptacle"),
            "on": TargetRequirement("surface", forbids="receptacle"),
        }
    )


@dataclass(frozen=True)
class GoalAnalysis:
    """What the robot makes of a goal sentence.

    Attributes:
        mismatches: all that were found, the deciding kind first; none where the goal is viable.
        clauses: what the sentence says; empty where it could not be read to its end.
        things: the perceived things that each phrase means.
    """

    mismatches: tuple[Mismatch, ...] = ()
    clauses: tuple[GoalClause, ...] = ()
    things: Mapping[NounPhrase, tuple[PerceivedThing, ...]] = field(default_factory=dict)

    @property
    def viable(self) -> bool:
        """Whether the goal can be understood, seen and done."""
        return not self.mismatches

    @property
    def kind(self) -> MismatchKind | None:
        """The kind of mismatch that decides, None where the goal is viable."""
        return self.mismatches[0].kind if self.mismatches else None


class GoalAnalyser:
    """Analyses goal sentences in situations.

    Args:
        language: reads them.
        embodiment: what the robot can do.
    """

    def __init__(self, language: GoalLanguage, embodiment: RobotAbilities | None = None) -> None:
        self.language = language
        self.embodiment = embodiment or RobotAbilities()

    def analyse(self, sentence: str, situation: PerceivedScene) -> GoalAnalysis:
        """Simulate what the robot would do with a goal sentence.

        Words are read from left to right. At the first unknown one reading ends, and what had been referred to before
        is grounded. A sentence of known words that the grammar does not have is uninterpretable and nothing else.

        Args:
            sentence: "the goal is that ...", in any case, with or without its full stop.
            situation: what is perceived, and the object that is asked about.
        """
        if is_too_long(sentence):
            return GoalAnalysis((Mismatch(MismatchKind.UNINTERPRETABLE),))
        words = split_words(sentence)
        unknown = next((place for place, word in enumerate(words) if not self.language.knows(word)), None)
        if unknown is not None:
            mismatch = Mismatch(MismatchKind.UNKNOWN_WORD, words[unknown])
            _, ungrounded = self._ground(self.language.find_phrases(words[:unknown]), situation)
            return GoalAnalysis((mismatch, *ungrounded))
        clauses = self.language.goal(words)
        if clauses is None:
            return GoalAnalysis((Mismatch(MismatchKind.UNINTERPRETABLE),))
        return self.check(clauses, situation)

    def check(self, clauses: Sequence[GoalClause], situation: PerceivedScene) -> GoalAnalysis:
        """Ground clauses that have been read, and see whether what they ask for can be done."""
        phrases = [phrase for clause in clauses for phrase in noun_phrases(clause)]
        things, ungrounded = self._ground(phrases, situation)
        impossible = [found for clause in clauses for found in self._impossible(clause, things)]
        return GoalAnalysis(tuple(dict.fromkeys([*ungrounded, *impossible])), tuple(clauses), things)

    def _ground(
        self, phrases: Sequence[NounPhrase], situation: PerceivedScene
    ) -> tuple[dict[NounPhrase, tuple[PerceivedThing, ...]], list[Mismatch]]:
        vocabulary = self.language.vocabulary
        things = {phrase: situation.ground(phrase, vocabulary) for phrase in phrases}
        nouns = [vocabulary.meaning(phrase.noun) for phrase, found in things.items() if not found]
        return things, [Mismatch(MismatchKind.UNGROUNDED, noun) for noun in dict.fromkeys(nouns)]

    def _impossible(
        self, clause: GoalClause, things: Mapping[NounPhrase, tuple[PerceivedThing, ...]]
    ) -> Iterator[Mismatch]:
        """Properties that the things of a clause lack."""
        if isinstance(clause, PlacementClause):
            for thing in things[clause.subject]:
                if self.embodiment.moves not in thing.affordances:
                    yield Mismatch(MismatchKind.AFFORDANCE, self.embodiment.moves, thing.noun)
            demand = self.embodiment.relations.get(clause.relation)
            for thing in things[clause.target]:
                if demand and not demand.met(thing):
                    yield Mismatch(MismatchKind.AFFORDANCE, demand.reason, thing.noun)
            return
        needed = self.language.vocabulary.states.get(clause.state)
        for thing in things[clause.subject]:
            if needed not in thing.affordances:
                yield Mismatch(MismatchKind.AFFORDANCE, clause.state, thing.noun)
