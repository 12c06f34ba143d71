"""Analysis and repair (AR): the robot simulates using a response, and has mismatched responses repaired.

Source: Kirk et al., AAAI 2024 (arXiv 2306.06770v4), section "The STARS Approach: Analyze and Repair (AR)" with figure
3; appendix B, "(Agent) Analysis" and "Repair".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from housewise.agent.stars.goal_clauses import GoalClause, NounPhrase, PlacementClause, noun_phrases
from housewise.agent.stars.goal_grammar import GoalLanguage
from housewise.agent.stars.responses import GoalAnalysis, GoalCandidate, Mismatch, MismatchKind, RetrievedGoal
from housewise.agent.stars.situation import PerceivedScene, PerceivedThing, RobotAbilities
from housewise.agent.stars.vocabulary import is_too_long, split_words

MAX_REPAIRS = 2
_REPAIRED = (MismatchKind.AFFORDANCE, MismatchKind.UNGROUNDED, MismatchKind.UNKNOWN_WORD)
"""Kinds of mismatches that are repaired, most urgent first. What cannot be interpreted is not repaired."""


class GoalAnalyser:
    """Analyses goal sentences in a scene by internal simulation (figure 3).

    Args:
        language: Parser of goal sentences.
        embodiment: Abilities of the robot.
    """

    def __init__(self, language: GoalLanguage, embodiment: RobotAbilities) -> None:
        self.language = language
        self.embodiment = embodiment

    def analyse(self, sentence: str, situation: PerceivedScene) -> GoalAnalysis:
        """Simulate how the robot would process a goal sentence: language, situation, embodiment and affordances.

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

    def analyse_statement(self, sentence: str, situation: PerceivedScene) -> GoalAnalysis | None:
        """Analyse a goal that a user states ("if the object is a mug then the goal is that ...").

        Returns:
            The analysis, or None if the sentence is not understood or is about another object.
        """
        statement, about = self.language.statement(sentence), situation.about
        if statement is None or about is None or statement.name not in (about.noun, "object"):
            return None
        return self.check(statement.clauses, situation)

    def check(self, clauses: Sequence[GoalClause], situation: PerceivedScene) -> GoalAnalysis:
        """Ground parsed clauses and check whether what they ask for can be done."""
        phrases = [phrase for clause in clauses for phrase in noun_phrases(clause)]
        things, ungrounded = self._ground(phrases, situation)
        impossible = [found for clause in clauses for found in self._impossible(clause, things)]
        return GoalAnalysis(tuple(dict.fromkeys([*ungrounded, *impossible])), tuple(clauses), things)

    def _ground(
        self, phrases: Sequence[NounPhrase], situation: PerceivedScene
    ) -> tuple[dict[NounPhrase, tuple[PerceivedThing, ...]], list[Mismatch]]:
        """Return the observable objects that each referent can be grounded to, and the situation mismatches."""
        vocabulary = self.language.vocabulary
        things = {phrase: situation.ground(phrase, vocabulary) for phrase in phrases}
        nouns = [vocabulary.meaning(phrase.noun) for phrase, found in things.items() if not found]
        return things, [Mismatch(MismatchKind.UNGROUNDED, noun) for noun in dict.fromkeys(nouns)]

    def _impossible(
        self, clause: GoalClause, things: Mapping[NounPhrase, tuple[PerceivedThing, ...]]
    ) -> Iterator[Mismatch]:
        """Yield the embodiment and affordance mismatches of a clause: properties that its things lack."""
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


def repair_candidates(
    candidates: Sequence[GoalCandidate],
    retrieve: Callable[[GoalCandidate], Sequence[RetrievedGoal]],
    analyse: Callable[[str], GoalAnalysis],
) -> Iterator[tuple[GoalCandidate, list[GoalCandidate]]]:
    """Repair unviable candidates one after the other, and analyse what that brings (appendix B, Repair).

    Candidates with fewer mismatches come first, then affordance mismatches, ungrounded objects and unknown words, then
    the more probable candidate. A candidate is repaired once, and results of a second repair are not repaired.

    Args:
        candidates: Candidates from the first prompt.
        retrieve: Returns new responses to the prompt that repairs a candidate.
        analyse: Returns the analysis of a sentence.

    Yields:
        The repaired candidate and the candidates that the repair brought.
    """
    waiting = [candidate for candidate in candidates if is_repairable(candidate)]
    while waiting:
        wrong = min(waiting, key=_urgency)
        waiting.remove(wrong)
        found = [
            GoalCandidate(response, analyse(response.text), wrong.text, wrong.repairs + 1)
            for response in retrieve(wrong)
        ]
        waiting += [candidate for candidate in found if is_repairable(candidate)]
        yield wrong, found


def is_repairable(candidate: GoalCandidate) -> bool:
    """Return whether the model is asked for a better goal."""
    return candidate.analysis.kind in _REPAIRED and candidate.repairs < MAX_REPAIRS


def _urgency(candidate: GoalCandidate) -> tuple[int, int, float]:
    """Return the sort key of what is repaired first, as in the authors' code: fewer mismatches, then their kind."""
    analysis = candidate.analysis
    return len(analysis.mismatches), _REPAIRED.index(analysis.kind), -candidate.response.probability
