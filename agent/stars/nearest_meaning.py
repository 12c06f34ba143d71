"""Baseline without a language model: an object belongs where things with the closest meaning belong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from housewise.agent.stars.analysis_and_repair import GoalAnalyser
from housewise.agent.stars.lessons import GoalSelection
from housewise.agent.stars.model_usage import ModelUsage
from housewise.agent.stars.oversight import closes_what_it_opens, goal_place
from housewise.agent.stars.responses import GoalCandidate, RetrievedGoal, RetrievedTexts
from housewise.agent.stars.tasks import StarsTask, TaskObject
from housewise.agent.stars.viable_goals import list_viable_goals
from housewise.language.embedder import Embedder, cosine

Examples = Mapping[str, Sequence[str]]
"""Fixtures where objects of other rooms belong, by their description: ``{"saucer on table": ["dishwasher"]}``."""


class NearestMeaning:
    """Retrieves and selects goals by the similarity of meanings.

    Args:
        embedder: Sentence embeddings.
        examples: Places of other objects. Without examples, an object is compared with the names of the fixtures.
    """

    def __init__(self, embedder: Embedder, examples: Examples) -> None:
        self._embedder, self._examples = embedder, examples

    def goals(self, task: StarsTask, about: TaskObject, analyser: GoalAnalyser) -> list[RetrievedGoal]:
        """Return one goal per fixture that can hold the object, most similar first. Fixtures are closed again.

        Args:
            task: Task with its fixtures.
            about: The object.
            analyser: Determines which goals are viable.

        Returns:
            Goals whose probability is the cosine of the closest meaning, or 0 if it is negative.
        """
        situation = task.situation.with_focus(about.thing)
        goals: dict[str, str] = {}
        for sentence in list_viable_goals(task, about, analyser):
            analysis = analyser.analyse(sentence, situation)
            place = goal_place(analysis, about.thing)
            if place is not None and closes_what_it_opens(analysis):
                goals.setdefault(place, sentence)
        found = [
            RetrievedGoal(sentence, self._place_similarity(about, place), "meaning")
            for place, sentence in goals.items()
        ]
        return sorted(found, key=lambda response: -response.probability)

    def select(
        self, task: StarsTask, about: TaskObject, candidates: Sequence[GoalCandidate], usage: ModelUsage
    ) -> GoalSelection:
        """See GoalSelector.select.

        Prefers the most similar place, then goals that close what they open, then the probability.
        """

        def rank(candidate: GoalCandidate) -> tuple[float, bool, float]:
            place = goal_place(candidate.analysis, about.thing)
            similarity = -1.0 if place is None else self._place_similarity(about, place)
            return similarity, closes_what_it_opens(candidate.analysis), candidate.response.probability

        return GoalSelection(max(candidates, key=rank))

    def _place_similarity(self, about: TaskObject, place: str) -> float:
        """Return the similarity of an object to the things that belong in a place."""
        if not self._examples:
            return self._max_similarity(about.thing.noun, [place])
        return self._max_similarity(
            about.description, [description for description, places in self._examples.items() if place in places]
        )

    def _max_similarity(self, one: str, others: Sequence[str]) -> float:
        """Return the highest cosine of a text with others; 0 if there are none, or if all are negative."""
        words = [text.replace("-", " ") for text in (one, *others)]
        return max(0.0, float(cosine(self._embedder, words[:1], words[1:]).max())) if others else 0.0


class MeaningRetriever:
    """Retrieves goals by the similarity of meanings; see ResponseRetriever.

    Args:
        nearest: Compares meanings.
        task: The task.
        analyser: Determines which goals are viable.
    """

    max_calls = 0

    def __init__(self, nearest: NearestMeaning, task: StarsTask, analyser: GoalAnalyser) -> None:
        self._nearest, self._task, self._analyser = nearest, task, analyser

    def retrieve(
        self, about: TaskObject, wrong: GoalCandidate | None, seen: RetrievedTexts, usage: ModelUsage
    ) -> list[RetrievedGoal]:
        """See ResponseRetriever.retrieve. No model is asked, and nothing has to be repaired."""
        return self._nearest.goals(self._task, about, self._analyser)
