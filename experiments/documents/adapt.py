"""The tables of ADAPT, drawn from files of results."""

from __future__ import annotations

from housewise.experiments.documents.files import FigureFiles
from housewise.experiments.documents.marks import figure, markdown


def agents(files: FigureFiles) -> str:
    """Satisfaction of seen and unseen people and questions of every agent, how far Reflection-DPO is ahead, and the
    published figures beside."""
    file = "adapt/main_fold_0.json"

    def mean(address: str, form: str) -> str:
        return "–" if files.at(f"{address}/mean") is None else figure(address, form, files)

    ahead = files.keys(f"{file}#/ahead_of")

    def row(name: str) -> list[str]:
        ours, printed = f"{file}#/rows/{name}", f"{file}#/published_on_another_scale/rows"
        known = name in files.keys(printed)
        return [
            name,
            str(files.at(f"{ours}/information")),
            *(mean(f"{ours}/{side}/satisfaction", "±.1%") for side in ("seen", "unseen")),
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
