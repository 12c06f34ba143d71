"""The tables of CLIPR: its methods, what they cost, the ablations, the learned row, porting and houses."""

from __future__ import annotations

from housewise.experiments.documents.files import FigureFiles
from housewise.experiments.documents.marks import figure, markdown

_DATA = {"ambik": "AmbiK", "introplan": "IntroPlan", "housekeep": "Housekeep", "kitchen": "kitchen"}
_TIERS = ("in distribution", "out of distribution")


def methods(files: FigureFiles) -> str:
    """Accuracy of every method and control, in percent, in and out of distribution."""
    file = "clipr/main_local.json"
    data = files.keys(f"{file}#/accuracy")

    def cell(method: str, name: str) -> str:
        tiers = [tier for tier in _TIERS if tier in files.keys(f"{file}#/accuracy/{name}")]
        return " / ".join(_percent(f"{file}#/accuracy/{name}/{tier}/{method}", files) for tier in tiers)

    rows = [[name, *(cell(name, each) for each in data)] for name in _order_methods(file, data[0], files)]
    return markdown(("in / out of distribution", *(_DATA[name] for name in data)), rows)


def efficiency(files: FigureFiles) -> str:
    """Calls and questions of every method, and the efficiency of those that learn while they choose."""
    file = "clipr/main_local.json"
    data = files.keys(f"{file}#/usage")

    def cell(method: str, name: str) -> str:
        used = f"{file}#/usage/{name}/{method}"
        calls, questions = (figure(f"{used}/{key}", ".0f", files) for key in ("calls", "questions"))
        ends = figure(f"{used}/efficiency", ".2f", files) if "efficiency" in files.keys(used) else "–"
        return f"{calls} / {questions} / {ends}"

    found = files.keys(f"{file}#/usage/{data[0]}")
    rows = [[name, *(cell(name, each) for each in data)] for name in found]
    return markdown(("calls / questions / efficiency", *(_DATA[name] for name in data)), rows)


def ablations(files: FigureFiles) -> str:
    """Accuracy in percent, updates that were accepted, that lowered what was processed, and the worst of them."""
    file = "clipr/ablations.json"
    data = files.keys(f"{file}#/data")

    def cell(row: str, name: str) -> str:
        told = f"{file}#/data/{name}/{row}"
        words = _percent(f"{told}/accuracy", files)
        if "accepted" in files.keys(told):
            accepted, lowered = (
                sum(files.at(f"{told}/{key}/per_seed")) for key in ("accepted", "accepted that lowered")
            )
            worst = 100 * min(files.at(f"{told}/worst change/per_seed"))
            words += f" ({accepted:.0f}, {lowered:.0f}{f', {worst:.1f}' if lowered else ''})"
        return words

    rows = [[name, *(cell(name, each) for each in data)] for name in files.keys(f"{file}#/data/{data[0]}")]
    return markdown(("(updates accepted, that lowered, the worst)", *(_DATA[name] for name in data)), rows)


def rule_following_table(files: FigureFiles) -> str:
    """Whether a small model follows rules: choices of new people in new scenarios, in percent."""
    file = "clipr/learned.json"
    number = figure(f"{file}#/rows/chance/n", "d", files)
    rows = [[name, _with_error(f"{file}#/rows/{name}", files)] for name in files.keys(f"{file}#/rows")]
    return markdown((f"{number} choices", "accuracy, %"), rows)


def porting(files: FigureFiles) -> str:
    """Accuracy in percent by author of the rules and by who follows them."""
    file = "clipr/porting.json"
    data = files.keys(f"{file}#/accuracy")
    authors = files.keys(f"{file}#/accuracy/{data[0]}")
    followers = files.keys(f"{file}#/accuracy/{data[0]}/{authors[0]}")
    rows = [
        [_DATA[name], author, *(_percent(f"{file}#/accuracy/{name}/{author}/{each}", files) for each in followers)]
        for name in data
        for author in authors
    ]
    for name in data:
        controls = files.keys(f"{file}#/controls/{name}")
        rows += [[_DATA[name], each, _percent(f"{file}#/controls/{name}/{each}", files)] for each in controls]
    rows = [[*row, *[""] * (2 + len(followers) - len(row))] for row in rows]
    return markdown(("", "rules of", *followers), rows)


def transfer(files: FigureFiles) -> str:
    """Success in percent in houses after ten questions, by who is asked."""
    file = "clipr/transfer.json"
    everybody = files.keys(f"{file}#/figures")
    persons = files.keys(f"{file}#/figures/{everybody[0]}")
    rows = [[row, *(_points(f"{file}#/figures/{row}/{who}", files) for who in persons)] for row in everybody]
    for name, told, show in _COMPARED:
        for robot in files.keys(f"{file}#/{name}"):
            cells = [f"{file}#/{name}/{robot}/{who}" for who in persons]
            rows.append([f"{robot}: {told}", *(show(cell, files) for cell in cells)])
    return markdown(("success, %", *persons), rows)


def _order_methods(file: str, data: str, files: FigureFiles) -> list[str]:
    """Methods first, then what asks no language model."""
    every = files.keys(f"{file}#/accuracy/{data}/all")
    used = files.keys(f"{file}#/usage/{data}")
    return [*used, *(name for name in every if name not in used)]


def _percent(address: str, files: FigureFiles) -> str:
    """A share in percent with its error, where there is one that shows."""
    return figure(address, "±.1%", files).removesuffix(" %").removesuffix(" ± 0.0")


def _with_error(row: str, files: FigureFiles) -> str:
    """An accuracy in percent with the error that stands beside it; None there where there is none."""
    share, error = files.number(f"{row}/accuracy"), files.at(f"{row}/error")
    return f"{100 * share:.1f}" + (f" ± {100 * error:.1f}" if error is not None else "")


def _points(address: str, files: FigureFiles) -> str:
    known = files.at(address) is not None and files.at(f"{address}/mean") is not None
    return figure(address, "±.1f", files) if known else "–"


def _share(address: str, files: FigureFiles) -> str:
    return "–" if files.at(address) is None else figure(address, ".0%", files).removesuffix(" %")


_COMPARED = (
    ("gains", "rules are worth, points", _points),
    ("gains_over_usual_places", "rules beside usual places are worth, points", _points),
    ("share_of_full", "rules reach of full preferences, %", _share),
)
