"""Shows episodes of CLIPR: the dialogue, the rules that were inferred from it, and the decisions of each rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from housewise.core.record import Event, Record
from housewise.report.views.base import EpisodeContent, EpisodeView, RecordContent, SaveFilm
from housewise.systems.clipr.record import CliprAnswerEvent, CliprQuestionEvent, DecisionEvent, ReviewEvent, RulesEvent
from housewise.worlds.house.simulator import SimulatorChoice

_MAX_DECISIONS = 2000
_MAX_FAILURES = 20
_UNTOLD = "no rule, as far as the reasoning tells"


@dataclass(frozen=True)
class QuestionAnswer:
    """A question with its answer, which is None if the person gave none."""

    question: CliprQuestionEvent
    answer: CliprAnswerEvent | None


@dataclass
class RuleRow:
    """A rule over all versions of the rules.

    Attributes:
        text: Text of the rule.
        numbers: Number of the rule in each version, or None if the version lacks it.
        understood: Whether the rule could be parsed.
        decisions: Decisions that the rule made.
    """

    text: str
    numbers: list[int | None]
    understood: bool = True
    decisions: list[DecisionEvent] = field(default_factory=list)

    @property
    def right(self) -> int:
        """Number of correct decisions."""
        return sum(decision.right for decision in self.decisions)

    @property
    def failures(self) -> list[DecisionEvent]:
        """The first wrong decisions."""
        return [decision for decision in self.decisions if not decision.right][:_MAX_FAILURES]


@dataclass(frozen=True, kw_only=True)
class CliprContent(RecordContent):
    """An episode of CLIPR."""

    dialogue: list[QuestionAnswer]
    versions: list[RulesEvent]
    rules: list[RuleRow]
    reviews: list[ReviewEvent]
    decisions: list[DecisionEvent]
    template: str = "clipr.html"


class CliprView(EpisodeView):
    """View of CLIPR; see `EpisodeView`."""

    explanation = (
        "Accuracy: share of the tests in which the action was chosen that the person prefers; in distribution, "
        "where the examples were about the same, and out of it. Every choice counts as it was made first. "
        "Figures are means of an episode ± standard error over tasks."
    )

    def __init__(self) -> None:
        super().__init__("clipr")

    def count_faults(self, record: Record, path: Path) -> dict[str, int]:
        """See `EpisodeView`: wrong choices by tier, and unreadable replies."""
        wrong = (decision for decision in record.of_type(DecisionEvent) if not decision.right)
        return Counter("unreadable" if each.action is None else f"wrong, {each.tier}" for each in wrong)

    def make_content(
        self, number: int, record: Record, path: Path, simulator: SimulatorChoice | None, save_film: SaveFilm | None
    ) -> EpisodeContent:
        """See `EpisodeView`."""
        decisions, versions = record.of_type(DecisionEvent), record.of_type(RulesEvent)
        return CliprContent(
            **self.shared_fields(number, record),
            dialogue=dialogue(record.events),
            versions=versions,
            rules=rule_rows(versions, decisions),
            reviews=record.of_type(ReviewEvent),
            decisions=decisions[:_MAX_DECISIONS],
            left_out=len(decisions[_MAX_DECISIONS:]),
        )


def dialogue(events: Sequence[Event]) -> list[QuestionAnswer]:
    """Return the questions with their answers."""
    spoken = [event for event in events if isinstance(event, CliprQuestionEvent | CliprAnswerEvent)]
    return [
        QuestionAnswer(event, then if isinstance(then, CliprAnswerEvent) else None)
        for event, then in zip_longest(spoken, spoken[1:])
        if isinstance(event, CliprQuestionEvent)
    ]


def rule_rows(versions: Sequence[RulesEvent], decisions: Sequence[DecisionEvent]) -> list[RuleRow]:
    """Return every rule once, in order of appearance, and last a row for the decisions without a rule."""
    rows: dict[str, RuleRow] = {}
    for place, version in enumerate(versions):
        for number, line in enumerate(version.rules, 1):
            row = rows.setdefault(line.text, RuleRow(line.text, [None] * len(versions), line.typed))
            row.numbers[place] = number
    by_version = {version.version: version.rules for version in versions}
    none = RuleRow(_UNTOLD, [None] * len(versions))
    for decision in decisions:
        lines = by_version.get(decision.version, ())
        told = decision.rule is not None and 1 <= decision.rule <= len(lines)
        row = rows[lines[decision.rule - 1].text] if told and decision.rule is not None else none
        row.decisions.append(decision)
    return [*rows.values(), *([none] if none.decisions else [])]
