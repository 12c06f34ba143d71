"""How breakfasts of ADAPT are shown: what was done and said, what there was by then, and what became of each wish."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from housewise.core.errors import UserError
from housewise.core.record import Header, Record, Result
from housewise.report.views.base import Began, EventsView, KeepFilm
from housewise.rollout.comparison_settings import planner_label
from housewise.systems.adapt.record import ActionEvent, AdaptFinal, AdaptSetting, AnswerEvent, ThoughtEvent, VerdictLine
from housewise.worlds.house.simulator import SimulatorChoice

_MOST_STEPS = 500


@dataclass
class Did:
    """An action of the transcript.

    Attributes:
        number: of executed actions so far, which wishes are dated by; None where it was not executed.
        action: as it was recorded.
        answer: of the person, where it is a question; None for none.
        recalled: whether they gave it on another day.
        made: what there was after it, a line each; empty where that did not change.
        decided: wishes that were decided for good by it.
        thought: that came before it; empty for none.
    """

    number: int | None
    action: ActionEvent
    answer: str | None
    made: list[str]
    decided: list[VerdictLine]
    thought: str = ""
    recalled: bool = False

    @property
    def mood(self) -> str:
        """Of its row."""
        return "wrong" if self.action.failed else ""


@dataclass(frozen=True)
class AdaptShown:
    """A breakfast; see Shown.

    Attributes:
        wishes: those that applied first.
    """

    number: int
    record: Record
    setting: AdaptSetting
    facts: dict[str, str]
    rate: float
    measure: str
    mood: str
    steps: list[Did]
    left_out: int
    wishes: list[VerdictLine]
    template: str = "adapt.html"
    complete: bool = True

    @property
    def title(self) -> str:
        """See Shown."""
        header = self.record.header
        return f"{header.task} · run {header.run} · {planner_label(header)}"


class AdaptView(EventsView):
    """Breakfasts; see View."""

    standing = "wishes"

    def __init__(self) -> None:
        super().__init__("adapt")
        self.explanation = (
            "Satisfaction: share of the person's wishes that apply which the breakfast satisfies, mean ± standard "
            "error over tasks. The other figures are means of an episode."
        )

    def faults(self, record: Record, path: Path) -> dict[str, int]:
        """See View: violated wishes by category."""
        found: dict[str, int] = {}
        for verdict in _final(record, path).verdicts:
            if verdict.decision == "violated":
                undone = verdict.why.startswith("not made")
                what = "dish not made" if undone else f"violated: {verdict.category}"
                found[what] = found.get(what, 0) + 1
        return found

    def state(self, result: Result) -> str:
        """See View."""
        return f"{self._count(result, 'satisfied')} of {self._count(result, 'applicable')}"

    def gained(self, result: Result) -> float:
        """See View."""
        return result.scores.get("satisfied", 0)

    def perfect(self, result: Result) -> bool:
        """See View."""
        return result.scores.get("satisfaction") == 1

    def ending(self, header: Header, result: Result) -> str:
        """See View."""
        return result.ended

    def began(self, header: Header) -> list[Began]:
        """See View."""
        try:
            setting = AdaptSetting.model_validate(header.setting)
        except ValidationError:
            return []
        return [Began("", setting.task, f"for {setting.person}: {setting.about}")]

    def shown(
        self, number: int, record: Record, path: Path, simulator: SimulatorChoice | None, keep: KeepFilm | None
    ) -> AdaptShown:
        """See View."""
        plain = self.plain(number, record)
        final = _final(record, path)
        order = {"violated": 0, "satisfied": 1, "inapplicable": 2}
        steps = list(_steps(record, final))
        return AdaptShown(
            number,
            record,
            _setting(record, path),
            plain.facts,
            plain.rate,
            plain.measure,
            "right" if self.perfect(record.result) else "partly",
            steps[:_MOST_STEPS],
            len(steps[_MOST_STEPS:]),
            sorted(final.verdicts, key=lambda verdict: order[verdict.decision]),
        )

    @staticmethod
    def _count(result: Result, name: str) -> int:
        return round(result.scores.get(name, 0))


def _steps(record: Record, final: AdaptFinal) -> Iterator[Did]:
    """The transcript: actions with what was answered and what there was then."""
    applying = [verdict for verdict in final.verdicts if verdict.decision != "inapplicable"]
    executed, last, thought = 0, None, ""
    for event in record.events:
        if isinstance(event, ActionEvent):
            if last is not None:
                yield last
            executed += not event.failed
            decided = [] if event.failed else [verdict for verdict in applying if verdict.step == executed]
            number = None if event.failed else executed
            last, thought = Did(number, event, None, event.made.splitlines(), decided, thought), ""
        elif isinstance(event, ThoughtEvent):
            thought = event.text
        elif isinstance(event, AnswerEvent) and last is not None:
            last.answer, last.recalled = event.text, event.recalled
    if last is not None:
        yield last


def _setting(record: Record, path: Path) -> AdaptSetting:
    try:
        return AdaptSetting.model_validate(record.header.setting)
    except ValidationError as error:
        raise _damaged(path, error) from error


def _final(record: Record, path: Path) -> AdaptFinal:
    try:
        return AdaptFinal.model_validate(record.result.final)
    except ValidationError as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: ValidationError) -> UserError:
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"]))
    return UserError(f"{path}: {where}: {first['msg']}; delete the file to run the episode again")
