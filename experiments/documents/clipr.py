"""The tables of CLIPR: its methods, what they cost, the ablations, rules of others, and houses."""

from __future__ import annotations

from collections.abc import Sequence

from housewise.experiments.documents.files import FigureFiles, MeanError
from housewise.experiments.documents.marks import markdown
from housewise.experiments.statistics import DIFFERENCE, ERROR_OVER_TASKS, paired_differences

METHODS = "clipr/methods.csv"
_TIERS = ("accuracy_in_distribution", "accuracy_out_of_distribution")
_LEARNS_WHILE_CHOOSING = ("Adaptive CLIPR", "CIPHER Levenshtein", "CIPHER embeddings")
"""Methods of which the paper compares the efficiency."""


def methods(files: FigureFiles) -> str:
    """Accuracy of every method and control, in percent, in and out of distribution."""
    figures, data, names = _grid(files, METHODS, "data", "method")

    def cell(method: str, name: str) -> str:
        return " / ".join(_percent(figures[name, method, tier]) for tier in _TIERS if (name, method, tier) in figures)

    rows = [[method, *(cell(method, name) for name in data)] for method in names]
    return markdown(("in / out of distribution", *data), rows)


def efficiency(files: FigureFiles) -> str:
    """Calls and questions of every method, and the efficiency of those that learn while they choose."""
    figures, data, names = _grid(files, METHODS, "data", "method")
    best = {
        name: max(each.mean for method in _LEARNS_WHILE_CHOOSING if (each := _per_call(figures, name, method)))
        for name in data
    }

    def cell(method: str, name: str) -> str:
        calls, questions = (f"{figures[name, method, measure].mean:.0f}" for measure in ("calls", "questions"))
        each = _per_call(figures, name, method) if method in _LEARNS_WHILE_CHOOSING else None
        return f"{calls} / {questions} / {f'{each.mean / best[name]:.2f}' if each else '–'}"

    rows = [[m, *(cell(m, name) for name in data)] for m in names if (data[0], m, "calls") in figures]
    return markdown(("calls / questions / efficiency", *data), rows)


def ablations(files: FigureFiles) -> str:
    """Accuracy in percent, updates that were accepted, that lowered what was processed, and the worst of them."""
    name = "clipr/ablations.csv"
    figures, data, names = _grid(files, name, "data", "row")
    frame = files.table(name).frame

    def cell(row: str, data_set: str) -> str:
        if (data_set, row, "accuracy") not in figures:
            return "–"
        words = _percent(figures[data_set, row, "accuracy"])
        rows = frame[(frame["data"] == data_set) & (frame["row"] == row)]
        accepted, lowered, changes = (
            rows[rows["measure"] == each]["value"] for each in ("accepted_updates", "harmful_updates", "worst_change")
        )
        if accepted.empty:
            return words
        worst = f", {100 * changes.min():.1f}" if lowered.sum() else ""
        return f"{words} ({accepted.sum():.0f}, {lowered.sum():.0f}{worst})"

    rows = [[row, *(cell(row, each) for each in data)] for row in names]
    return markdown(("(updates accepted, that lowered, the worst)", *data), rows)


def rule_following_table(files: FigureFiles) -> str:
    """Whether a small model follows rules: choices of new people in new scenarios, in percent."""
    name = "clipr/learned.csv"
    figures = files.means(name, ("row",))
    rows = [[row, _percent(figures[row, "as_wanted"])] for row in files.table(name).header.axes["row"]]
    return markdown(("", "accuracy, %"), rows)


def porting(files: FigureFiles) -> str:
    """Accuracy in percent by the rules and by who follows them."""
    name = "clipr/porting.csv"
    axes, figures = files.table(name).header.axes, files.means(name, ("data", "rules", "follower"))
    followers = axes["follower"]
    rows = []
    for data in axes["data"]:
        for rules in axes["rules"]:
            found = [figures.get((data, rules, follower, "accuracy")) for follower in followers]
            rows.append([data, rules, *("–" if each is None else _percent(each) for each in found)])
    return markdown(("", "rules of", *followers), rows)


def transfer(files: FigureFiles) -> str:
    """Success in percent in houses after ten questions, by who is asked."""
    name = "clipr/transfer.csv"
    table = files.table(name)
    people = table.header.axes["person"]
    by_person, together = files.means(name, ("row", "person")), files.means(name, ("row",))
    names = [row for row in table.header.axes["row"] if (row, "success_rate") in together]

    def means(row: str) -> list[MeanError]:
        return [*(by_person[row, who, "success_rate"] for who in people), together[row, "success_rate"]]

    rows = [[row, *(_points(each) for each in means(row))] for row in names]
    frame = table.frame[table.frame["measure"] == "success_rate"]
    for label, row, base in _COMPARED:
        gains = [
            paired_differences(some, "row", base).set_index("row").loc[row]
            for some in (*(frame[frame["person"] == who] for who in people), frame)
        ]
        rows.append([label, *(_points(MeanError(each[DIFFERENCE], each[ERROR_OVER_TASKS])) for each in gains)])
    for robot in ("model", "memory lookup", "memory nearest"):
        pairs = zip(means(f"{robot}, rules"), means(f"{robot}, full preferences"), strict=True)
        shares = [f"{100 * part.mean / whole.mean:.0f}" for part, whole in pairs]
        rows.append([f"{robot}: rules reach of full preferences, %", *shares])
    return markdown(("success, %", *people, "everybody"), rows)


_COMPARED = (
    ("model: rules are worth, points", "model, rules", "model, no rules"),
    ("memory lookup: rules are worth, points", "memory lookup, rules", "memory lookup, no rules"),
    (
        "memory lookup: rules beside usual places are worth, points",
        "memory lookup, usual places and rules",
        "memory lookup, usual places",
    ),
)


def _grid(
    files: FigureFiles, name: str, *axes: str
) -> tuple[dict[tuple[str, ...], MeanError], Sequence[str], Sequence[str]]:
    """Return the means by two axes and measure, and the levels of both."""
    header = files.table(name).header
    first, second = axes
    return files.means(name, axes), header.axes[first], header.axes[second]


def _per_call(figures: dict[tuple[str, ...], MeanError], data: str, method: str) -> MeanError | None:
    return figures.get((data, method, "right_choices_per_call"))


def _percent(each: MeanError) -> str:
    """A share in percent with its error, where there is one that shows."""
    error = "" if each.error is None else f" ± {100 * each.error:.1f}"
    return f"{100 * each.mean:.1f}{error}".removesuffix(" ± 0.0")


def _points(each: MeanError) -> str:
    """A share in percent, or a difference of two in points, with its error."""
    return f"{100 * each.mean:.1f}" + ("" if each.error is None else f" ± {100 * each.error:.1f}")
