"""The tables of STARS, drawn from files of results."""

from __future__ import annotations

from housewise.experiments.documents.files import FigureFiles
from housewise.experiments.documents.marks import figure, markdown

TASKS = ("tidy kitchen", "store groceries", "organize office")


def selecting(files: FigureFiles) -> str:
    """Completion in percent, where goals are chosen among the recorded ones."""
    tasks = "stars/selecting.json#/tasks"

    def percent(address: str) -> str:
        return figure(f"{tasks}/{address}", ".1f", files)

    def count(address: str) -> str:
        return figure(f"{tasks}/{address}", "d", files)

    def row(task: str, model: str, seed: str) -> list[str]:
        found = f"{task}/models/{model}/{seed}"
        plain = [percent(f"{task}/{way}/completion_percent") for way in ("recorded", "best", "nearest")]
        taught = "nearest" in files.keys(f"{tasks}/{found}")
        numbered = f"{found}/numbered/completion_percent"
        return [
            task,
            f"{model}, seed {seed}" if len(files.keys(f"{tasks}/{task}/models/{model}")) > 1 else model,
            *plain,
            percent(f"{found}/nearest/completion_percent") if taught else "–",
            percent(f"{found}/rating/completion_percent"),
            percent(f"{found}/likelihood/completion_percent"),
            ", ".join(percent(f"{numbered}/{turn}") for turn in files.keys(f"{tasks}/{numbered}")),
            figure(f"{tasks}/{found}/numbered/moved", ".0%", files),
            f"{count(f'{found}/learned_from')} of {count(f'{task}/objects')}",
        ]

    columns = (
        "task", "model", "GPT-4, recorded", "`best`", "`nearest`", "`nearest` of the lessons", "likelihood of the goal",
        "likelihood of the number over all rotations", "numbered question, by rotation", "moves", "learned from",
    )  # fmt: skip
    return markdown(
        columns,
        [
            row(task, model, seed)
            for task in TASKS
            for model in files.keys(f"{tasks}/{task}/models")
            for seed in files.keys(f"{tasks}/{task}/models/{model}")
        ],
    )


def conditions(task: str, files: FigureFiles) -> str:
    """What each condition came to in a task, from scratch, with the paper's completion beside it."""
    file = "stars/conditions.json"
    rows = f"{file}#/figures/{task}"

    def told(row: str, measure: str, form: str) -> str:
        # Nothing is written of what an agent does not do, as of goals viable where none are retrieved.
        known = measure in files.keys(f"{rows}/{row}")
        return figure(f"{rows}/{row}/{measure}/mean", form, files) if known else "–"

    def completion(row: str) -> str:
        spread = files.at(f"{rows}/{row}/completion_percent/sd")
        ours = told(row, "completion_percent", ".1f") + (f" ± {spread:.1f}" if spread else "")
        published = files.at(f"{file}#/tables/0/cells/row={row},column={task}/published")
        return f"{ours} [{published['mean']:.1f}]" if published else ours

    floor = figure(f"{file}#/floor/{task}", ".1f", files)
    nothing = ["doing nothing", floor, *["–"] * len(_MEASURES)]
    found = [
        [row, completion(row), *(told(row, measure, form) for measure, _, form in _MEASURES)]
        for row in files.keys(rows)
    ]
    return markdown((task, "completion, % [STARS]", *(words for _, words, _ in _MEASURES)), [nothing, *found])


_MEASURES = (
    ("held_out_percent", "objects never learned from, %", ".0f"),
    ("retrieved", "goals retrieved", ".0f"),
    ("viable_percent", "viable, %", ".0f"),
    ("proposed", "questions", ".0f"),
    ("stated", "stated by the person", ".1f"),
    ("total_tokens", "tokens", ",.0f"),
    ("words", "words", ".0f"),
)
