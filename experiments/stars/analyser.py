"""How far our analysis of recorded responses agrees with that of the published agent.

``python -m housewise.experiments.stars.analyser --data FOLDER --json OUT``
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from housewise.agent.stars.responses import GoalAnalysis
from housewise.core.files import check_writable_file, write_json
from housewise.core.provenance import provenance
from housewise.experiments.stars.recorded import Recordings, Response, responses


@dataclass(frozen=True)
class Verdicts:
    """A recorded response and what we make of it."""

    response: Response
    analysis: GoalAnalysis

    @property
    def kind(self) -> str | None:
        """Ours, in the recorded words."""
        return self.analysis.kind.value if self.analysis.kind else None

    @property
    def same_set(self) -> bool:
        """Whether the same mismatches were found, details and all, in whatever order."""
        ours = {(found.kind.value, found.what, found.thing) for found in self.analysis.mismatches}
        return ours == {(found.kind, found.what, found.object) for found in self.response.mismatches}


def verdicts(recordings: Recordings) -> list[Verdicts]:
    """Analyse all responses of all tasks."""
    found = []
    for task in recordings.tasks:
        analyser = recordings.analyser(task)
        world = recordings.task(task, analyser.language.vocabulary)
        known: dict[tuple[str, str], GoalAnalysis] = {}
        for response in responses(recordings.lines(task)):
            key = response.object, response.text
            if key not in known:
                about = world[response.object].thing
                known[key] = analyser.analyse(response.text, world.situation.with_focus(about))
            found.append(Verdicts(response, known[key]))
    return found


def agreement(found: list[Verdicts]) -> dict[str, Any]:
    """Shares of responses, between 0 and 1, on which we agree, with what we do not agree on."""

    def share(agrees: list[bool]) -> float:
        return sum(agrees) / len(agrees) if agrees else float("nan")

    wrong = Counter(
        (each.response.task, each.response.text, each.response.kind, each.kind)
        for each in found
        if each.kind != each.response.kind
    )
    return {
        "viable_agreement": share([each.analysis.viable == each.response.viable for each in found]),
        "kind_agreement": share([each.kind == each.response.kind for each in found]),
        "set_agreement": share([each.same_set for each in found]),
        "n": len(found),
        "disagreements": [
            {"task": task, "text": text, "recorded": theirs, "ours": ours, "responses": count}
            for (task, text, theirs, ours), count in wrong.most_common()
        ],
    }


def main(
    data: Annotated[Path, typer.Option(help="folder of recorded responses")],
    output: Annotated[Path, typer.Option("--json", callback=check_writable_file, help="file to write the figures to")],
) -> None:
    """Compare our analysis with the recorded one."""
    figures = agreement(verdicts(Recordings(data)))
    write_json(output, {**figures, **provenance()})
    typer.echo(
        f"{figures['n']} responses: viable or not the same in {figures['viable_agreement']:.2%}, "
        f"deciding kind in {figures['kind_agreement']:.2%}, all mismatches in {figures['set_agreement']:.2%}"
    )


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
