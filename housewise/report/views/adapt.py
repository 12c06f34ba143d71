"""Shows episodes of ADAPT: actions, questions and answers, state of the kitchen, and outcome of each preference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from housewise.core.record import Header, Record, Result
from housewise.report.views.base import (
    EpisodeView,
    InitialFact,
    RecordContent,
    SaveFilm,
    parse_initial_state,
    read_state,
    round_score,
)
from housewise.systems.adapt.record import (
    AdaptFinalState,
    AdaptInitialState,
    CookingActionEvent,
    KitchenAnswerEvent,
    ThoughtEvent,
    VerdictLine,
)
from housewise.worlds.house.simulator import SimulatorChoice

_MAX_STEPS = 500


@dataclass
class TranscriptRow:
    """An action of the transcript.

    Attributes:
        number: Number of executed actions so far, or None if the action was not executed.
        action: The recorded action.
        answer: Answer of the person if the action is a question, or None.
        made: Dishes after the action, one per line; empty if they did not change.
        decided: Preferences whose outcome the action decided.
        thought: Reasoning before the action, or an empty text.
        recalled: Whether the answer comes from an earlier day.
    """

    number: int | None
    action: CookingActionEvent
    answer: str | None
    made: list[str]
    decided: list[VerdictLine]
    thought: str = ""
    recalled: bool = False

    @property
    def mood(self) -> str:
        """Class of the row in the template."""
        return "wrong" if self.action.failed else ""


@dataclass(frozen=True, kw_only=True)
class AdaptContent(RecordContent):
    """A breakfast.

    Attributes:
        wishes: Outcomes of the preferences, violated ones first.
    """

    initial_state: AdaptInitialState
    steps: list[TranscriptRow]
    wishes: list[VerdictLine]
    template: str = "adapt.html"


class AdaptView(EpisodeView):
    """View of ADAPT; see `EpisodeView`."""

    state_heading = "wishes"

    explanation = (
        "Satisfaction: share of the person's wishes that apply which the breakfast satisfies, mean ± standard "
        "error over tasks. The other figures are means of an episode."
    )

    def __init__(self) -> None:
        super().__init__("adapt")

    def count_faults(self, record: Record, path: Path) -> dict[str, int]:
        """See `EpisodeView`: violated preferences by category."""
        violated = [verdict for verdict in _final(record, path).verdicts if verdict.decision == "violated"]
        return Counter(
            "dish not made" if verdict.why.startswith("not made") else f"violated: {verdict.category}"
            for verdict in violated
        )

    def describe_state(self, result: Result) -> str:
        """See `EpisodeView`."""
        return f"{round_score(result, 'satisfied')} of {round_score(result, 'applicable')}"

    def state_sort_value(self, result: Result) -> float:
        """See `EpisodeView`."""
        return result.scores.get("satisfied", 0)

    def is_perfect(self, result: Result) -> bool:
        """See `EpisodeView`."""
        return result.scores.get("satisfaction") == 1

    def describe_ending(self, header: Header, result: Result) -> str:
        """See `EpisodeView`."""
        return result.end_reason

    def initial_facts(self, header: Header) -> list[InitialFact]:
        """See `EpisodeView`."""
        initial_state = parse_initial_state(AdaptInitialState, header)
        if initial_state is None:
            return []
        return [InitialFact("", initial_state.task, f"for {initial_state.person}: {initial_state.about}")]

    def make_content(
        self, number: int, record: Record, path: Path, simulator: SimulatorChoice | None, save_film: SaveFilm | None
    ) -> AdaptContent:
        """See `EpisodeView`."""
        final = _final(record, path)
        order = {"violated": 0, "satisfied": 1, "inapplicable": 2}
        steps = list(_steps(record, final))
        return AdaptContent(
            **self.shared_fields(number, record),
            initial_state=read_state(AdaptInitialState, record.header.initial_state, path),
            mood="right" if self.is_perfect(record.result) else "partly",
            steps=steps[:_MAX_STEPS],
            left_out=len(steps[_MAX_STEPS:]),
            wishes=sorted(final.verdicts, key=lambda verdict: order[verdict.decision]),
        )


def _steps(record: Record, final: AdaptFinalState) -> Iterator[TranscriptRow]:
    """Return the actions with the answers to questions and the outcomes that they decided."""
    applying = [verdict for verdict in final.verdicts if verdict.decision != "inapplicable"]
    executed, last, thought = 0, None, ""
    for event in record.events:
        if isinstance(event, CookingActionEvent):
            if last is not None:
                yield last
            executed += not event.failed
            decided = [] if event.failed else [verdict for verdict in applying if verdict.step == executed]
            number = None if event.failed else executed
            last, thought = TranscriptRow(number, event, None, event.prepared_food.splitlines(), decided, thought), ""
        elif isinstance(event, ThoughtEvent):
            thought = event.text
        elif isinstance(event, KitchenAnswerEvent) and last is not None:
            last.answer, last.recalled = event.text, event.recalled
    if last is not None:
        yield last


def _final(record: Record, path: Path) -> AdaptFinalState:
    return read_state(AdaptFinalState, record.result.final, path)
