"""The tables of README and docs, each drawn from files of results by a function of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from housewise.experiments.documents import clipr, stars
from housewise.experiments.documents.files import FigureFiles
from housewise.experiments.documents.marks import Drawn, figure, markdown
from housewise.experiments.personalize.households import OTHER, TEST
from housewise.experiments.personalize.robots import EMPTY, FULL, NOTHING, PHASE_OF, ROUNDS, SHOWN
from housewise.experiments.personalize.study import ALL_SCENES
from housewise.experiments.results import Figure, published


def engines(files: FigureFiles) -> str:
    """How fast other engines are beside the local model's, in tasks of several kinds."""
    rows = "bench/engines.json#/rows"

    def told(count: int, measure: str, engine: str, key: str, form: str) -> str:
        return figure(f"{rows}/measure={measure},conversations={count},engine={engine}/{key}", form, files)

    def ratio(count: int, measure: str, engine: str) -> str:
        median, *ends = (told(count, measure, engine, f"ratio/{key}", ".2f") for key in ("median", "least", "most"))
        return f"{median} ({' to '.join(ends)})"

    def row(count: int, measure: str) -> list[str]:
        speed = told(count, measure, "housewise", "per_second/median", ".2f" if measure == "plans" else ".0f")
        return [str(count), measure, speed, *(ratio(count, measure, engine) for engine in _PEERS)]

    columns = ("at once", "", "tokens, or plans, a second of ours", *_PEERS.values())
    return markdown(columns, [row(count, measure) for count in (1, 16) for measure in ("reading", "writing", "plans")])


def fidelity(files: FigureFiles) -> str:
    """How recorded episodes of Habitat went when they were played again in the embedded simulator."""
    file = "bench/fidelity.json"

    def told(words: str) -> str:
        return re.sub(r"\{(\S+) (\S+)\}", lambda mark: figure(f"{file}#/{mark[1]}", mark[2], files), words)

    columns = (told("what, over {episodes d} recordings"), "figure")
    return markdown(columns, [[told(cell) for cell in row] for row in _FIDELITY])


def judging(files: FigureFiles) -> str:
    """What the local model says of things in lessons, untrained and with ``tidy``."""
    file = "personalize/judging.json"

    def percent(arm: str, thing: str, said: str) -> str:
        # What was never said is not in the file.
        never = said not in files.keys(f"{file}#/arms/{arm}/{thing}")
        return "0 %" if never else figure(f"{file}#/arms/{arm}/{thing}/{said}", ".0f", files) + " %"

    rows = [
        [words, *(" / ".join(percent(arm, thing, each) for each in said) for arm in ("as it comes", "tidy"))]
        for words, thing, said in _JUDGING
    ]
    return markdown((f"of {figure(f'{file}#/lessons', 'd', files)} lessons' things", "as it comes", "`tidy`"), rows)


def new_houses(files: FigureFiles) -> str:
    """Success in percent in generated houses that nothing was learned in, and how episodes ended."""
    file = "personalize/new_houses.json"

    def told(row: str, which: str) -> str:
        mean, error = (figure(f"{file}#/{which}/{row}/{key}", ".1f", files) for key in ("mean", "error"))
        return f"{mean} ± {error}"

    def ended(row: str) -> str:
        ways = files.keys(f"{file}#/ended/{row}")
        return ", ".join(f"{figure(f'{file}#/ended/{row}/{way}', 'd', files)} {way}" for way in ways)

    gained = files.keys(f"{file}#/gains")
    rows = [
        [row, told(row, "figures"), told(row, "gains") if row in gained else "", ended(row)]
        for row in files.keys(f"{file}#/figures")
    ]
    first = rows[0][0]
    number = figure(f"{file}#/houses", "d", files)
    return markdown((f"{number} houses, nothing learned", "success, %", f"more than {first}", "ended"), rows)


def remembering(files: FigureFiles) -> str:
    """Success in percent of robots that go by notes and of their controls, over all seeds."""
    episodes, rows = _remembered(files), files.keys(f"{_REMEMBERING}#/told")
    told = {row: ", ".join(files.at(f"{_REMEMBERING}#/told/{row}")) or "nothing" for row in rows}
    columns = list(dict.fromkeys(column for row in episodes.values() for column in row))
    rows = [
        [f"{row}, {stage}" if stage != row else row, *(_cell(found.get(column)) for column in columns), told[row]]
        for (row, stage), found in episodes.items()
    ]
    return markdown(("", *(" ".join(column) for column in columns), "told"), rows)


def remembering_in_short(files: FigureFiles) -> str:
    """The same of the model and of the best control without one, a column a scene, with what was published."""
    episodes = _remembered(files)
    columns = [(scene, which) for scene in ALL_SCENES for which in ("test", "other")]
    columns = [column for column in columns if any(column in found for found in episodes.values())]

    def cell(row: str, stage: str, column: tuple[str, str]) -> str:
        known = published("success_rate", column[0], PHASE_OF.get(stage, ""), column[1]) if row == FULL else None
        ours = _cell(episodes.get((row, stage), {}).get(column))
        return f"{ours} [{known.mean:.1f}]" if known else ours

    rows = [
        [words, *(cell(row, stage, column) for column in columns)]
        for row, stage, words in (
            (EMPTY, NOTHING, "nothing remembered, the model"),
            ("store", SHOWN, "after 10 demonstrations, notes without a model"),
            (FULL, SHOWN, "... the model with the notes"),
            ("store", ROUNDS[-1], "after 40 attempts, notes without a model"),
            (FULL, ROUNDS[-1], "... the model with the notes"),
        )
    ]
    names = (f"{scene.removesuffix('_int')} {which}" for scene, which in columns)
    return markdown(("success, % (episodes) [LLM-Personalize]", *names), rows)


def remembering_gains(files: FigureFiles) -> str:
    """By how much the model with its memory is ahead of each of its halves, task by task."""
    gains = f"{_REMEMBERING}#/gains"

    def cell(address: str, other: str) -> str:
        pair = f"{FULL} - {other}"
        if files.at(address).get(pair) is None:
            return "–"
        return f"{figure(f'{address}/{pair}', '±.1f', files)} ({figure(f'{address}/{pair}/episodes', 'd', files)})"

    rows = [
        [f"{scene} {which}", stage, *(cell(f"{gains}/{scene}/{stage}/{which}", other) for other in (EMPTY, *_CONTROLS))]
        for scene in files.keys(gains)
        for which in (TEST, OTHER)
        for stage in files.keys(f"{gains}/{scene}")
        if which in files.keys(f"{gains}/{scene}/{stage}")
    ]
    return markdown(("", "", *(f"more than {other} (episodes)" for other in (EMPTY, *_CONTROLS))), rows)


def _remembered(files: FigureFiles) -> dict[tuple[str, str], dict[tuple[str, str], list[tuple[str, float]]]]:
    """Task and success of every episode, by row and stage, and by scene and set of tasks."""
    episodes: dict[tuple[str, str], dict[tuple[str, str], list[tuple[str, float]]]] = {}
    for path in _paths(files, f"{_REMEMBERING}#/by_episode", 6):
        scene, row, stage, which, task, _ = path
        played = episodes.setdefault((row, stage), {}).setdefault((scene, which), [])
        played.append((task, files.number(f"{_REMEMBERING}#/by_episode/{'/'.join(path)}/success")))
    return episodes


def _cell(found: list[tuple[str, float]] | None) -> str:
    return f"{Figure.of(found)} ({len(found)})" if found else "–"


def _paths(files: FigureFiles, address: str, depth: int) -> Iterator[tuple[str, ...]]:
    """The keys that lead to what is so deep below an address."""
    for key in files.keys(address):
        yield from [(key,)] if depth == 1 else ((key, *rest) for rest in _paths(files, f"{address}/{key}", depth - 1))


TABLES: dict[str, Drawn] = {
    "clipr": clipr.methods,
    "clipr ablations": clipr.ablations,
    "clipr efficiency": clipr.efficiency,
    "clipr learned": clipr.learned,
    "clipr porting": clipr.porting,
    "clipr transfer": clipr.transfer,
    "engines": engines,
    "fidelity": fidelity,
    "judging": judging,
    "new houses": new_houses,
    "remembering": remembering,
    "remembering gains": remembering_gains,
    "remembering in short": remembering_in_short,
    **{f"stars {task}": partial(stars.conditions, task) for task in stars.TASKS},
    "stars selecting": stars.selecting,
}
"""How each table is drawn, by the name that a mark says."""

_CONTROLS = ("store", "nearest")
_REMEMBERING = "personalize/remembering.json"
_PEERS = {"generate": "`generate`", "continuous": "continuous batching", "llama.cpp": "llama.cpp, Q4_1"}
_FIDELITY = (
    ("recorded steps that resolve to the recorded action and target", "{parse_agreement .1%}"),
    (
        "picks and places with the recorded effect, from the recorded placements before each action",
        "{effect_agreement .1%}",
    ),
    ("actions that take the recorded number of low-level steps", "{actions_of_recorded_length .1%} of {actions ,}"),
    ("walks (of at least one step, in either) that do", "{walks_of_recorded_length .1%} of {walks ,}"),
    ("low-level steps of an action, ours / recorded", "{low_level_steps .1f} / {low_level_steps_recorded .1f}"),
    (
        "what each action discovers, F1 (precision, recall)",
        "{discovery_f1 .3f} ({discovery_precision .3f}, {discovery_recall .3f})",
    ),
    ("the same, in step", "{discovery_f1_in_step .3f}"),
    (
        "objects that end up where they ended up in the record, whole episodes without looking at the record again",
        "{final_placement_agreement .1%}",
    ),
    ("success over whole episodes, ours / recorded", "{success_rate .1f} % / {success_rate_recorded .1f} %"),
)
_JUDGING = (
    ("in their place: found to be so", "in its place", ("fine",)),
    (
        "out of place, a right place known: sent to a right one / to a wrong one",
        "out of place, a right place is known",
        ("right place", "wrong place"),
    ),
    ("out of place, none known: left for later", "out of place, none is known", ("elsewhere",)),
)
