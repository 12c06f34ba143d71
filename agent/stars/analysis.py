"""Analysis of a goal sentence: can the robot understand it, perceive its things, and do it? (STARS, analysis)"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from housewise.agent.stars.goal_clauses import GoalClause, NounPhrase, PlacementClause, noun_phrases
from housewise.agent.stars.goal_grammar import GoalLanguage
from housewise.agent.stars.situation import PerceivedScene, PerceivedThing
from housewise.agent.stars.vocabulary import is_too_long, split_words


class MismatchKind(Enum):
    """Reasons why a goal is not viable. If several apply, the first of them decides."""

    UNINTERPRETABLE = "uninterpretable"
    UNKNOWN_WORD = "unknown-word"
    UNGROUNDED = "ungrounded-object"
    AFFORDANCE = "affordance-mismatch"


@dataclass(frozen=True)
class Mismatch:
    """One reason why a goal is not viable.

    Attributes:
        kind: Kind of the mismatch.
        what: The unknown word, the ungrounded noun, or the missing property (``grabbable``, ``receptacle``, ``surface``
            or a state). None for an uninterpretable sentence.
        thing: Noun of the thing that lacks the property, or None.
    """

    kind: MismatchKind
    what: str | None = None
    thing: str | None = None


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

    moves: str = "grabbable"
    relations: Mapping[str, TargetRequirement] = field(
        default_factory=lambda: {
            "in": TargetRequirement("receptacle", needs="receptacle"),
            "on": TargetRequirement("surface", forbids="receptacle"),
        }
    )


@dataclass(frozen=True)
class GoalAnalysis:
    """The result of analysing a goal sentence.

    Attributes:
        mismatches: All mismatches, deciding one first. Empty for a viable goal.
        clauses: Clauses of the sentence; empty if it could not be parsed.
        things: Perceived things that each noun phrase can mean.
    """

    mismatches: tuple[Mismatch, ...] = ()
    clauses: tuple[GoalClause, ...] = ()
    things: Mapping[NounPhrase, tuple[PerceivedThing, ...]] = field(default_factory=dict)

    def first_thing(self, phrase: NounPhrase) -> PerceivedThing | None:
        """Return the first perceived thing that a noun phrase can mean, or None."""
        return next(iter(self.things.get(phrase, ())), None)

    @property
    def viable(self) -> bool:
        """Whether the goal can be understood, perceived and done."""
        return not self.mismatches

    @property
    def kind(self) -> MismatchKind | None:
        """The deciding kind of mismatch, or None for a viable goal."""
        return self.mismatches[0].kind if self.mismatches else None


class GoalAnalyser:
    """Analyses goal sentences in a scene.

    Args:
        language: Parser of goal sentences.
        embodiment: Abilities of the robot.
    """

    def __init__(self, language: GoalLanguage, embodiment: RobotAbilities | None = None) -> None:
        self.language = language
        self.embodiment = embodiment or RobotAbilities()

    def analyse(self, sentence: str, situation: PerceivedScene) -> GoalAnalysis:
        """Simulate how the robot would process a goal sentence.

        Words are read from left to right. Reading stops at the first unknown word, and the noun phrases before it are
        grounded. A sentence of known words that is not grammatical is uninterpretable and has no other mismatch.

        Args:
            sentence: Sentence such as "the goal is that ...", in any case, with or without its full stop.
            situation: Perceived scene, focused on the object in question.
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
        """Ground parsed clauses and check whether what they ask for can be done."""
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
        """Yield the properties that the things of a clause lack."""
        if isinstance(clause, PlacementClause):
            for thing in things[clause.subject]:
                if self.embodiment.moves not in thing.affordances:
                    yield Mismatch(MismatchKind.AFFORDANCE, self.embodiment.moves, thing.noun)
            demand = self.embodiment.relations.get(clause.relation)
            for thing in things[clause.target]:
                if demand and not demand.is_met_by(thing):
                    yield Mismatch(MismatchKind.AFFORDANCE, demand.reason, thing.noun)
            return
        needed = self.language.vocabulary.states.get(clause.state)
        for thing in things[clause.subject]:
            if needed not in thing.affordances:
                yield Mismatch(MismatchKind.AFFORDANCE, clause.state, thing.noun)
