"""Our own selection among the recorded viable goals of STARS, beside GPT-4's recorded choices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from statistics import fmean

from housewise.agent.stars.data_files import KNOWN_PLACES, load_examples
from housewise.agent.stars.lessons import GoalSelector
from housewise.agent.stars.model_usage import ModelUsage
from housewise.agent.stars.nearest_meaning import NearestMeaning
from housewise.agent.stars.other_selectors import AllRotationsSelector, RatingSelector, RotatedSelector
from housewise.agent.stars.prompts import load_prompts
from housewise.agent.stars.responses import GoalAnalysis, GoalCandidate, RetrievedGoal
from housewise.agent.stars.stars_loop import LikeliestSelector
from housewise.agent.stars.tasks import StarsTask, TaskObject
from housewise.core.errors import UserError
from housewise.experiments.measured_values import MeasuredValue
from housewise.experiments.stars.breakdown import Category, category
from housewise.experiments.stars.recorded import Recordings
from housewise.experiments.stars.replay import Analysed, replay_task
from housewise.language.adapters import adapter_folder
from housewise.language.embedder import shared_minilm
from housewise.language.local.completion import LocalCompletionModel
from housewise.language.local.model import LocalChatModel
from housewise.language.local.smollm2 import SMOLLM2

_CONDITION = "STARS"
_ROTATIONS = 3


def select_recorded_goals(
    recordings: str,
    task: str,
    selector: str,
    adapter: str | None,
    seed: int,
    rotation: int = 0,
    model: str = SMOLLM2,
) -> Iterator[MeasuredValue]:
    """Measure how much of a recorded task is completed if nothing but the choice differs from the recorded run.

    Args:
        recordings: Folder of recorded responses.
        task: Recorded task by name.
        selector: ``recorded``, ``best`` (the best recorded rank), ``nearest`` (the fixture whose name is closest in
            meaning), ``nearest of the lessons`` (the fixture of the closest thing that the adapter learned from),
            ``goal likelihood``, ``number likelihood`` or ``numbered``.
        adapter: Adapter of the local model, in which ``{seed}`` stands for the seed.
        seed: Seed of the adapter.
        rotation: Number of places by which the options of the numbered question are rotated.
        model: Local model.
    """
    adapter = adapter and adapter.format(seed=seed)
    if adapter is not None and not adapter_folder(adapter).is_dir():
        raise UserError(f"{adapter}: no such adapter; name the folder of trainings with --input trainings=FOLDER")
    replay = _SelectionReplay(Recordings(Path(recordings)), task)
    if selector == "recorded":
        yield MeasuredValue(task, 0, "completion_percent", replay.completion(None))
    elif selector == "best":
        yield from replay.measure(LikeliestSelector())
    elif selector == "nearest":
        yield from replay.measure(NearestMeaning(shared_minilm(), {}))
    elif selector == "nearest of the lessons":
        lessons = load_examples(str(adapter_folder(adapter or "").parent / KNOWN_PLACES))
        yield from replay.measure(NearestMeaning(shared_minilm(), lessons), lessons)
    else:
        with closing(LocalChatModel(model, adapter)) as opened:
            yield from replay.measure_model(LocalCompletionModel(opened), selector, rotation)


class _SelectionReplay:
    """Replays STARS' recorded retrieval of a task with another selector."""

    def __init__(self, recordings: Recordings, name: str) -> None:
        self._recordings, self._name = recordings, name
        self._lines = [line for line in recordings.lines(name) if line.condition == _CONDITION]
        self._task = recordings.task(name, recordings.analyser(name).language.vocabulary)

    def completion(self, picking: _Picking | None) -> float:
        """Return the task completion in percent, with the recorded choice if there is no other."""
        outcome = replay_task(self._recordings, self._name, _CONDITION, self._lines, picking)
        percent: float = outcome.expected["completion_percent"]
        return percent

    def measure(
        self, selector: GoalSelector, lessons: Mapping[str, Sequence[str]] | None = None
    ) -> Iterator[MeasuredValue]:
        """Measure a selector, and how many of the objects are in the lessons that it compares with."""
        picking = _Picking(self._task, selector)
        yield MeasuredValue(self._name, 0, "completion_percent", self.completion(picking))
        yield MeasuredValue(self._name, 0, "relevant", picking.relevant)
        yield MeasuredValue(self._name, 0, "objects", len(picking.picked))
        if lessons is not None:
            nouns = {seen.split()[0] for seen in lessons}
            learned_from = sum(self._task[thing].thing.noun in nouns for thing in picking.picked)
            yield MeasuredValue(self._name, 0, "learned_from", learned_from)

    def measure_model(self, model: LocalCompletionModel, selector: str, rotation: int) -> Iterator[MeasuredValue]:
        """Measure a selector that asks a model; of the numbered question also whether rotations change the answer."""
        prompts = load_prompts()
        if selector == "goal likelihood":
            yield from self.measure(RatingSelector(model, prompts))
        elif selector == "number likelihood":
            yield from self.measure(AllRotationsSelector(model, prompts))
        else:
            yield from self.measure(RotatedSelector(model, prompts, rotation))
        if selector == "numbered" and rotation == 0:
            turns = [_Picking(self._task, RotatedSelector(model, prompts, turn)) for turn in range(_ROTATIONS)]
            for turn in turns:
                self.completion(turn)
            yield MeasuredValue(self._name, 0, "moved", _position_sensitivity(turns))


class _Picking:
    """Selects goals for a replay, and keeps what was picked by object, of how many, and how many are relevant."""

    def __init__(self, task: StarsTask, selector: GoalSelector) -> None:
        self._task, self._selector = task, selector
        self.picked: dict[str, str] = {}
        self.options: dict[str, int] = {}
        self.relevant = 0

    def __call__(self, about: TaskObject, analysed: Analysed) -> GoalAnalysis | None:
        """See Choose."""
        found = _candidates(analysed)
        if not found:
            return None
        picked = self._selector.select(self._task, about, found, ModelUsage()).candidate
        self.picked[about.thing.name], self.options[about.thing.name] = picked.text, len(found)
        self.relevant += category(picked.analysis, about) == Category.RELEVANT.value
        return picked.analysis


def _candidates(analysed: Analysed) -> list[GoalCandidate]:
    """Return viable recorded goals, the most probable first by rank. Probabilities themselves were not published.

    Goals of repairs have no rank; they come after the others, in the order of their evaluation.
    """
    viable = [pair for pair in analysed if pair[1].viable]
    ordered = sorted(viable, key=lambda pair: (pair[0].rank is None, pair[0].rank or 0, pair[0].viable_position or 0))
    return [
        GoalCandidate(RetrievedGoal(response.text, 1 - place / (len(ordered) + 1), response.source), analysis)
        for place, (response, analysis) in enumerate(ordered)
    ]


def _position_sensitivity(turns: Sequence[_Picking]) -> float:
    """Return the share of objects with several goals for which some rotations of the options change the answer."""
    options = turns[0].options
    several = [name for name, count in options.items() if count > 1]
    differ = [len({turn.picked[name] for turn in turns[: options[name]]}) > 1 for name in several]
    return fmean(differ) if differ else 0.0
