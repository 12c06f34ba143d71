"""The tables of robots in houses and of what they remember, drawn from files of results."""

from __future__ import annotations

from collections.abc import Iterator

from housewise.experiments.documents.files import FigureFiles
from housewise.experiments.documents.marks import figure, markdown
from housewise.experiments.personalize.carried import ELSEWHERE, OWN, REACHED
from housewise.experiments.personalize.households import OTHER, TEST
from housewise.experiments.personalize.robots import EMPTY, FULL, NOTHING, PHASE_OF, ROUNDS, SHOWN
from housewise.experiments.personalize.study import ALL_SCENES
from housewise.experiments.results import Figure, published_figure


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

    def format_cell(row: str, which: str) -> str:
        mean, error = (figure(f"{file}#/{which}/{row}/{key}", ".1f", files) for key in ("mean", "error"))
        return f"{mean} ± {error}"

    def format_ends(row: str) -> str:
        ways = files.keys(f"{file}#/ended/{row}")
        return ", ".join(f"{figure(f'{file}#/ended/{row}/{way}', 'd', files)} {way}" for way in ways)

    gained = files.keys(f"{file}#/gains")
    rows = [
        [row, format_cell(row, "figures"), format_cell(row, "gains") if row in gained else "", format_ends(row)]
        for row in files.keys(f"{file}#/figures")
    ]
    first = rows[0][0]
    number = figure(f"{file}#/houses", "d", files)
    return markdown((f"{number} houses, nothing learned", "success, %", f"more than {first}", "ended"), rows)


def remembering(files: FigureFiles) -> str:
    """Success in percent of robots that go by notes and of their controls, over all seeds."""
    episodes, names = _episode_successes(files), files.keys(f"{_REMEMBERING}#/told")
    told = {name: ", ".join(files.at(f"{_REMEMBERING}#/told/{name}")) or "nothing" for name in names}
    columns = list(dict.fromkeys(column for row in episodes.values() for column in row))
    rows = [
        [f"{row}, {stage}" if stage != row else row, *(_cell(found.get(column)) for column in columns), told[row]]
        for (row, stage), found in episodes.items()
    ]
    return markdown(("", *(" ".join(column) for column in columns), "told"), rows)


def remembering_in_short(files: FigureFiles) -> str:
    """The same of the model and of the best control without one, a column a scene, with what was published."""
    episodes = _episode_successes(files)
    columns = [(scene, which) for scene in ALL_SCENES for which in ("test", "other")]
    columns = [column for column in columns if any(column in found for found in episodes.values())]

    def cell(row: str, stage: str, column: tuple[str, str]) -> str:
        known = published_figure("success_rate", column[0], PHASE_OF.get(stage, ""), column[1]) if row == FULL else None
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
        return _format_mean(f"{address}/{pair}", files)

    rows = [
        [f"{scene} {which}", stage, *(cell(f"{gains}/{scene}/{stage}/{which}", other) for other in (EMPTY, *_CONTROLS))]
        for scene in files.keys(gains)
        for which in (TEST, OTHER)
        for stage in files.keys(f"{gains}/{scene}")
        if which in files.keys(f"{gains}/{scene}/{stage}")
    ]
    return markdown(("", "", *(f"more than {other} (episodes)" for other in (EMPTY, *_CONTROLS))), rows)


def memory_transfer_table(files: FigureFiles) -> str:
    """Success in percent with a memory of one scene in another, and how much more that is than with none."""
    file = "personalize/carried.json"

    def format_cell(*path: str) -> str:
        address = f"{file}#/{'/'.join(path)}"
        missing = files.at(address) is None or files.at(f"{address}/mean") is None
        return "–" if missing else _format_mean(address, files)

    def row(pair: str, stage: str) -> list[str]:
        known = published_figure("transfer", pair, PHASE_OF[stage], TEST)
        return [
            f"{pair}, {stage}" + (f" [{known.mean:.1f}]" if known else ""),
            format_cell("figures", pair, EMPTY, NOTHING, TEST),
            *(format_cell("figures", pair, each, stage, TEST) for each in (*_CONTROLS, FULL)),
            *(format_cell("gains", pair, FULL, stage, TEST, than) for than in (ELSEWHERE, OWN)),
        ]

    columns = (
        "filled in → tested in, success, % (episodes) [LLM-Personalize]", EMPTY, *_CONTROLS, FULL,
        f"{FULL}: more than {ELSEWHERE}", f"more than {OWN}",
    )  # fmt: skip
    pairs = files.keys(f"{file}#/pairs")
    return markdown(columns, [row(pair, stage) for pair in pairs for stage in (SHOWN, *ROUNDS)])


def reach(files: FigureFiles) -> str:
    """Of the things out of place, for how many a memory that was brought along names a place, and what is put right."""
    file = "personalize/carried.json"
    stage = ROUNDS[-1]
    rows = [
        [pair, row, *(figure(f"{file}#/reach/{pair}/{row}/{stage}/{TEST}/{what}", "d", files) for what in REACHED)]
        for pair in files.keys(f"{file}#/pairs")
        for row in (*_CONTROLS, FULL)
    ]
    return markdown((f"tests {stage}, things of all seeds", "", *REACHED), rows)


def memory_swap_table(files: FigureFiles) -> str:
    """Success in percent with one's own memory, the majority's and another's."""
    file = "personalize/swapped.json"

    def row(scene: str, name: str, person: str) -> list[str]:
        played, gained = f"{file}#/figures/{scene}/{name}/{person}", f"{file}#/gains/{scene}/{name}"
        return [
            f"{person}, {scene}",
            name,
            *(_format_mean(f"{played}/{whose}", files) for whose in files.keys(played)),
            *(figure(f"{gained}/{pair}/{person}", "±.1f", files) for pair in files.keys(gained)),
        ]

    figures = f"{file}#/figures"
    rows = [
        row(scene, name, person)
        for scene in files.keys(figures)
        for person in files.keys(f"{figures}/{scene}/store")
        for name in files.keys(f"{figures}/{scene}")
    ]
    columns = (
        "success, % (episodes)",
        "",
        "their own",
        "the majority's",
        "another's",
        "own - majority's",
        "own - another's",
    )
    return markdown(columns, rows)


def reactions(files: FigureFiles) -> str:
    """Success in percent by how many reactions are remembered."""
    figures = "personalize/reactions.json#/figures"
    scenes = files.keys(figures)
    counts = [str(count) for count in files.at("personalize/reactions.json#/counts")]
    rows = [
        [
            f"{scene} {which}",
            row,
            *(figure(f"{figures}/{scene}/{row}/{which}/{count}", "±.1f", files) for count in counts),
        ]
        for scene in scenes
        for row in files.keys(f"{figures}/{scene}")
        for which in files.keys(f"{figures}/{scene}/{row}")
    ]
    return markdown(("success, %, by reactions remembered", "", *counts), rows)


def grounding(files: FigureFiles) -> str:
    """What checked and grounded replies do to the steps that can be done, and to success, in percent."""

    def row(model: str, file: str, arm: str) -> list[str]:
        found = f"{file}#/arms/{arm}"
        success = (
            f"{figure(f'{found}/success_rate', '.1f', files)} ± {figure(f'{found}/success_rate_stderr', '.1f', files)}"
        )
        shares = [figure(f"{found}/{share}", ".1%", files) for share in ("understood", "executability")]
        return [model, arm, *shares, success, figure(f"{found}/plans", ".0f", files)]

    columns = ("model", "replies", "steps understood", "steps done", "success, %", "plans")
    return markdown(
        columns,
        [row(model, file, arm) for model, file in _GROUNDED.items() for arm in files.keys(f"{file}#/arms")],
    )


def _episode_successes(files: FigureFiles) -> dict[tuple[str, str], dict[tuple[str, str], list[tuple[str, float]]]]:
    """Task and success of every episode, by row and stage, and by scene and set of tasks."""
    episodes: dict[tuple[str, str], dict[tuple[str, str], list[tuple[str, float]]]] = {}
    for path in _paths(files, f"{_REMEMBERING}#/by_episode", 6):
        scene, row, stage, which, task, _ = path
        played = episodes.setdefault((row, stage), {}).setdefault((scene, which), [])
        played.append((task, files.number(f"{_REMEMBERING}#/by_episode/{'/'.join(path)}/success")))
    return episodes


def _format_mean(address: str, files: FigureFiles) -> str:
    """A mean with its error, and of how many episodes."""
    return f"{figure(address, '±.1f', files)} ({figure(f'{address}/episodes', 'd', files)})"


def _cell(found: list[tuple[str, float]] | None) -> str:
    return f"{Figure.from_episodes(found)} ({len(found)})" if found else "–"


def _paths(files: FigureFiles, address: str, depth: int) -> Iterator[tuple[str, ...]]:
    """The keys that lead to what is so deep below an address."""
    for key in files.keys(address):
        yield from [(key,)] if depth == 1 else ((key, *rest) for rest in _paths(files, f"{address}/{key}", depth - 1))


_GROUNDED = {"as it comes": "personalize/grounding_untrained.json", "tidy": "personalize/grounding.json"}
_CONTROLS = ("store", "nearest")
_REMEMBERING = "personalize/remembering.json"
_JUDGING = (
    ("in their place: found to be so", "in its place", ("fine",)),
    (
        "out of place, a right place known: sent to a right one / to a wrong one",
        "out of place, a right place is known",
        ("right place", "wrong place"),
    ),
    ("out of place, none known: left for later", "out of place, none is known", ("elsewhere",)),
)
