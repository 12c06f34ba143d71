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


def conditions(measure: str, files: FigureFiles) -> str:
    """A share of all conditions from scratch, by task and model, with the paper's beside it.

    Args:
        measure: of results/stars/conditions.json, in percent.
        files: with the figures.
    """
    tasks, models = _tasks(files), _models(files)

    def row(condition: str) -> list[str]:
        published = [
            f" [{found:.1f}]"
            if measure == "completion_percent" and (found := _published_mean(condition, task, files))
            else ""
            for task in tasks
        ]
        return [
            condition,
            *(
                _spread(f"{_CONDITIONS}#/figures/{task}/{_row(condition, model)}", measure, files)
                + beside * (not model)
                for task, beside in zip(tasks, published, strict=True)
                for model in models
            ),
        ]

    rows = list(map(row, _plain(files)))
    if measure != "completion_percent":
        # With the person asked, or their answers known, nothing is left to tell.
        alone = [each for each in rows if not each[0].endswith("+O") and each[0] != "Trial 2"]
        return markdown(_columns("condition", tasks, models), alone)
    floor = [figure(f"{_CONDITIONS}#/floor/{task}", ".1f", files) for task in tasks for _ in models]
    return markdown(_columns("condition", tasks, models), [["doing nothing", *floor], *rows])


def oversight(files: FigureFiles) -> str:
    """What it costs the person where they are asked: questions, goals that they state, and words, by task and model."""
    tasks, models = _tasks(files), _models(files)

    def format_cell(condition: str, task: str, model: str) -> str:
        row = f"{_CONDITIONS}#/figures/{task}/{_row(condition, model)}"
        return ", ".join(figure(f"{row}/{measure}/mean", ".0f", files) for measure in ("proposed", "stated", "words"))

    asking = [condition for condition in _plain(files) if condition.endswith("+O")]
    rows = [[each, *(format_cell(each, task, model) for task in tasks for model in models)] for each in asking]
    return markdown(_columns("questions, goals stated, words", tasks, models), rows)


def _columns(first: str, tasks: list[str], models: list[str]) -> list[str]:
    return [first, *(f"{task}, {model or 'as it comes'}" for task in tasks for model in models)]


def _tasks(files: FigureFiles) -> list[str]:
    """Those that were played."""
    played = files.keys(f"{_CONDITIONS}#/figures")
    return [task for task in TASKS if task in played]


def _plain(files: FigureFiles) -> list[str]:
    """Conditions, without those of models that were taught."""
    return [row for row in files.keys(f"{_CONDITIONS}#/figures/{_tasks(files)[0]}") if ", " not in row]


def _models(files: FigureFiles) -> list[str]:
    """Names of what was taught; empty for the model as it comes, which is the first."""
    rows = files.keys(f"{_CONDITIONS}#/figures/{_tasks(files)[0]}")
    return list(dict.fromkeys(row.partition(", ")[2] for row in rows))


def _row(condition: str, model: str) -> str:
    return f"{condition}, {model}" if model else condition


def _spread(address: str, measure: str, files: FigureFiles) -> str:
    """A mean, and its standard deviation over seeds where there are several."""
    several = files.at(f"{address}/{measure}/sd")
    mean = figure(f"{address}/{measure}/mean", ".1f", files)
    return f"{mean} ± {several:.1f}" if several else mean


def _published_mean(condition: str, task: str, files: FigureFiles) -> float | None:
    found = files.at(f"{_CONDITIONS}#/tables/0/cells/row={condition},column={task}/published")
    return found["mean"] if found else None


_CONDITIONS = "stars/conditions.json"
