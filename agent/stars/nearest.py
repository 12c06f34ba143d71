"""Goals by meaning alone: where what is closest in meaning belongs. A control that asks no language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from housewise.agent.stars.analysis import Analyser
from housewise.agent.stars.oversight import closes_what_it_opens, place_said
from housewise.agent.stars.possible import possible_goals
from housewise.agent.stars.repair import Candidate
from housewise.agent.stars.retrieval import Retrieved
from housewise.agent.stars.selection import Choice
from housewise.agent.stars.tasks import Task, TaskObject
from housewise.agent.stars.usage import Usage
from housewise.language.embedder import Embedder, cosine

Examples = Mapping[str, Sequence[str]]
"""Where things belong that were seen elsewhere, by what was seen: ``saucer on table``, in the dishwasher."""


class Nearest:
    """Compares meanings.

    Args:
        embedder: of texts.
        examples: what is known of other things; without any, an object is compared with the names of fixtures.
    """

    def __init__(self, embedder: Embedder, examples: Examples) -> None:
        self._embedder, self._examples = embedder, examples

    def goals(self, task: Task, about: TaskObject, analyser: Analyser) -> list[Retrieved]:
        """One goal for each fixture that an object can be put in or on and that is closed again, the closest first.

        Args:
            task: has the fixtures.
            about: the object.
            analyser: tells which goals are viable.

        Returns:
            Goals of which the cosine of the closest meanings, or 0, stands for the probability.
        """
        situation = task.situation.asked_about(about.thing)
        goals: dict[str, str] = {}
        for sentence in possible_goals(task, about, analyser):
            analysis = analyser.analyse(sentence, situation)
            place = place_said(analysis, about.thing)
            if place is not None and closes_what_it_opens(analysis):
                goals.setdefault(place, sentence)
        found = [Retrieved(sentence, self._close(about, place), "meaning") for place, sentence in goals.items()]
        return sorted(found, key=lambda response: -response.probability)

    def select(self, task: Task, about: TaskObject, candidates: Sequence[Candidate], usage: Usage) -> Choice:
        """See Selector: of goals for the closest place one that closes what it opens, then the likeliest."""

        def worth(candidate: Candidate) -> tuple[float, bool, float]:
            place = place_said(candidate.analysis, about.thing)
            close = -1.0 if place is None else self._close(about, place)
            return close, closes_what_it_opens(candidate.analysis), candidate.response.probability

        return Choice(max(candidates, key=worth))

    def _close(self, about: TaskObject, place: str) -> float:
        """How close an object is to what belongs in a place."""
        if not self._examples:
            return self._closest(about.thing.noun, [place])
        return self._closest(about.seen, [seen for seen, places in self._examples.items() if place in places])

    def _closest(self, one: str, others: Sequence[str]) -> float:
        words = [text.replace("-", " ") for text in (one, *others)]
        return max(0.0, float(cosine(self._embedder, words[:1], words[1:]).max())) if others else 0.0
