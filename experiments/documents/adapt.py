"""The tables of ADAPT, drawn from files of results."""

from __future__ import annotations

from housewise.experiments.documents.files import FigureFiles
from housewise.experiments.documents.marks import figure, markdown


def agents(files: FigureFiles) -> str:
    """Satisfaction and questions of unseen people by every agent in the first fold, that of seen people by those that
    were played for them, how far Reflection-DPO is ahead, and the published figures beside."""
    file, with_seen = "adapt/main_fold_0.json", "adapt/main_seen.json#/rows"

    def mean(address: str, form: str) -> str:
        return "–" if files.at(f"{address}/mean") is None else figure(address, form, files)

    ahead, seen = files.keys(f"{file}#/ahead_of"), files.keys(with_seen)

    def row(name: str) -> list[str]:
        ours, printed = f"{file}#/rows/{name}", f"{file}#/published_on_another_scale/rows"
        known = name in files.keys(printed)
        return [
            name,
            str(files.at(f"{ours}/information")),
            mean(f"{with_seen}/{name}/seen/satisfaction", "±.1%") if name in seen else "–",
            mean(f"{ours}/unseen/satisfaction", "±.1%"),
            mean(f"{ours}/unseen/questions", "±.1f"),
            figure(f"{ours}/unseen/n", "d", files),
            mean(f"{file}#/ahead_of/{name}/satisfaction", "±.1%") if name in ahead else "–",
            *(
                figure(f"{printed}/{name}/{score}/0", ".1f", files) if known else "–"
                for score in ("unseen", "questions_unseen")
            ),
        ]

    columns = (
        "agent", "goes by", "satisfaction of seen people", "of unseen people", "questions to these", "breakfasts",
        "Reflection-DPO is ahead by", "published, % *", "questions *",
    )  # fmt: skip
    return markdown(columns, [row(name) for name in files.keys(f"{file}#/rows")])


def folds(files: FigureFiles) -> str:
    """Satisfaction of unseen people by Reflection-DPO and its closest rivals, fold by fold, with errors over folds."""
    file = "adapt/main_folds.json"
    rows, ahead = f"{file}#/rows", f"{file}#/ahead_of"
    numbers, ahead_of = files.keys(f"{file}#/folds"), files.keys(ahead)

    def row(name: str) -> list[str]:
        unseen, more = f"{rows}/{name}/unseen", f"{ahead}/{name}"
        return [
            name,
            str(files.at(f"{rows}/{name}/information")),
            *(figure(f"{unseen}/folds/{number}/satisfaction", ".1%", files) for number in numbers),
            figure(f"{unseen}/over_folds/satisfaction", "±.1%", files),
            figure(f"{unseen}/over_folds/questions", "±.1f", files),
            figure(f"{unseen}/n", "d", files),
            *(figure(f"{more}/{over}", "±.1%", files) if name in ahead_of else "–" for over in _OVER),
        ]

    columns = (
        "agent", "goes by", *(f"fold {number}" for number in numbers), "over folds", "questions", "breakfasts",
        "Reflection-DPO is ahead by, over folds", "over breakfasts",
    )  # fmt: skip
    return markdown(columns, [row(name) for name in files.keys(rows)])


def answer_value_table(files: FigureFiles) -> str:
    """What the answers were worth that unseen people gave to each agent that was answered."""
    rows = "adapt/main_fold_0.json#/rows"
    names = [name for name in files.keys(rows) if files.at(f"{rows}/{name}/heard/answers") is not None]
    shares = ("answers", "wishes", "satisfied", "satisfied_unheard")
    columns = ("agent", "answers that tell a wish", "wishes told", "of these satisfied", "of the others")
    return markdown(
        columns, [[name, *(figure(f"{rows}/{name}/heard/{key}", ".0%", files) for key in shares)] for name in names]
    )


def cooks(name: str, files: FigureFiles) -> str:
    """Satisfaction and questions of every row, for unseen people.

    Args:
        name: of the file.
        files: all of them.
    """
    rows = f"adapt/{name}.json#/rows"
    lines = [
        [cook, *(figure(f"{rows}/{cook}/unseen/{key}", form, files) for key, form in (*_SCORES, ("n", "d")))]
        for cook in files.keys(rows)
    ]
    return markdown(("cook", "satisfaction", "questions", "breakfasts"), lines)


def remembering(name: str, files: FigureFiles) -> str:
    """What a memory is worth to each cook of a file of experiments.adapt.remembering.

    Args:
        name: of the file.
        files: all of them.
    """
    file = f"adapt/{name}.json"
    cooks = [cook for cook in ("scripted", "model") if cook in files.read(file)]
    first = f"{file}#/{cooks[0]}"

    def row(words: str, address: str) -> list[str]:
        of = [f"{file}#/{cook}/{address}" for cook in cooks]
        return [words, *(figure(f"{each}/{key}", form, files) for each in of for key, form in _SCORES)]

    others = [
        row(f"tasks in turn, {place}, {side}", f"other_tasks/{place}/{side}")
        for place in ("breakfast 1", "breakfast 2", "breakfast 3", "after the first")
        for side in ("without", "with a memory")
    ]
    same = [row(f"the same task, {place}", f"same_task/{place}") for place in files.keys(f"{first}/same_task")]
    whose = [
        row(f"no questions, by {answers}", f"whose/{answers}")
        for answers in ("their own answers", "the next person's", "none")
    ]
    columns = [f"{cook}: {score}" for cook in cooks for score in ("satisfaction", "questions")]
    return markdown(("", *columns), [*others, *same, *whose])


_OVER = ("over_folds/satisfaction", "satisfaction")
_SCORES = (("satisfaction", "±.1%"), ("questions/mean", ".1f"))
