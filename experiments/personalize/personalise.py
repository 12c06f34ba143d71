"""One person's robot: taught for one person, tested for that person and for somebody who disagrees.

    python -m housewise.experiments.personalize.personalise [--data HOUSEKEEP] [--quick] [--adapter FOLDER] \\
        [--out runs/personalise]

For two people the same model is taught three times by the same recipe: for the majority, for the one and for the other.
All three, and the model as it was before, tidy the same test tasks for the one and for the other. In generated houses
these are two of our own people; with data, two annotators in one of its scenes as well. Unless they are named, the two
whose wishes for the things of the training tasks differ most are taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from housewise.core.console import Console
from housewise.core.errors import UserError
from housewise.core.tables import table
from housewise.experiments.personalize.obstacles import obstacles
from housewise.experiments.personalize.paper import (
    AdapterOption,
    JsonOption,
    OutOption,
    ShowOption,
    carry_out,
    default_out,
    run_settings,
    shareable,
)
from housewise.experiments.personalize.preference_disagreement import find_most_different_people
from housewise.experiments.personalize.same_thing import SameThing, draw_same_thing, same_things
from housewise.experiments.personalize.study import GENERATED, SCENES, recipe, scene_recipe, success
from housewise.experiments.quick import QuickOption
from housewise.experiments.results import Cell, Figure, Results
from housewise.selftrain.personalize.self_training import SelfTraining, play
from housewise.selftrain.personalize.settings import NamedTasksConfig, SelfTrainingConfig
from housewise.selftrain.trainers import ModelReference
from housewise.selftrain.training_folder import TrainingObserver
from housewise.systems.personalize.record import HouseRecord, read_house_records
from housewise.systems.personalize.tasks import list_tasks
from housewise.terminal.options import (
    ConfigOption,
    DataOption,
    GpuOption,
    Overrides,
    SimulatorOption,
    TrainedModelOption,
    TrainingUrlOption,
    WorkersOption,
)

NOBODY, MAJORITY = "nobody", "majority"

_MOST_THINGS = 6


class DisagreeingPair:
    """Two people who disagree, and the robots taught for them.

    Args:
        config: the recipe, in the houses where it is tried out.
        people: the two.
        disagreement: how much they differ; see housewise.experiments.personalize.preference_disagreement.
        folder: for everything that is played and learned.
    """

    def __init__(self, config: SelfTrainingConfig, people: tuple[str, str], disagreement: float, folder: Path) -> None:
        self.people, self.disagreement, self.folder = people, disagreement, folder
        self._config = config
        self.taught = (NOBODY, MAJORITY, *people)

    @property
    def test(self) -> NamedTasksConfig:
        """The tasks that nobody was taught on."""
        return next(tasks for tasks in self._config.evaluation.tasks if tasks.name == "test")

    def play(self, observer: TrainingObserver) -> None:
        """Teach and test what is missing."""
        for person in self.taught:
            start = self._model(person, observer)
            for other in self.people:
                config = self._config.evaluation_settings(
                    self.test, person=other, model=start.model, adapter=start.adapter
                )
                play(f"taught for {person}, tidies for {other}", config, self._folder(person, other), observer)

    def records(self, taught: str, tested: str) -> list[HouseRecord]:
        """What the robot taught for somebody did for somebody."""
        return list(read_house_records(self._folder(taught, tested) / "episodes"))

    def cells(self) -> list[Cell]:
        """Success of every robot for both people."""
        marked = self._config.run.models.agent.adapter is not None
        config = self._config.evaluation_settings(self.test)
        expected = len(list_tasks(config.tasks)) * config.tasks.repeats
        return [
            Cell(
                f"taught for {taught}",
                f"tidies for {tested}",
                Figure.from_records(self.records(taught, tested), success),
                marked=marked,
                expected=expected,
            )
            for taught in self.taught
            for tested in self.people
        ]

    def gains(self) -> dict[str, Figure | None]:
        """By how much each person's own robot is better for them than the majority's, episode by episode."""
        return {
            person: Figure.from_gains(self.records(person, person), self.records(MAJORITY, person), success)
            for person in self.people
        }

    def things(self) -> list[SameThing]:
        """Things that the two people's robots put in different places."""
        one, other = self.people
        return [
            thing
            for tested in self.people
            for thing in same_things(self.records(one, tested), self.records(other, tested))
        ]

    def _model(self, person: str, observer: TrainingObserver) -> ModelReference:
        run = self._config.run
        acting = run.models.agent
        if person == NOBODY:
            return ModelReference(model=acting.model, adapter=acting.adapter)
        evaluation = self._config.evaluation.model_copy(update={"tasks": []})
        changes = {"run": run.with_changes(person=person), "evaluation": evaluation}
        folder = self.folder / person / "selftraining"
        last = SelfTraining(self._config.model_copy(update=changes), folder, observer).run()["phases"][-1]
        return ModelReference(model=last["model"], adapter=last["adapter"])

    def _folder(self, taught: str, tested: str) -> Path:
        return self.folder / taught / f"for-{tested}"


class Personalise:
    """Robots taught for one person beside one for the majority; see housewise.experiments.personalize.paper.Experiment.

    Args:
        pairs: of people.
        out: folder for the pictures of things.
    """

    name = "personalise"

    def __init__(self, pairs: Sequence[DisagreeingPair], out: Path) -> None:
        self.pairs, self.out = pairs, out

    def play(self, observer: TrainingObserver) -> None:
        """See Experiment.play."""
        for pair in self.pairs:
            pair.play(observer)

    def results(self) -> list[Results]:
        """See Experiment.results."""
        return [
            Results(
                f"success rate on test tasks, %: {' and '.join(pair.people)}",
                pair.cells(),
                [f"their wishes differ by {pair.disagreement:.2f} (0 alike, 1 nothing in common)", *_gain_lines(pair)],
            )
            for pair in self.pairs
        ]

    def obstacles(self) -> dict[str, dict[str, Any]]:
        """See Experiment.obstacles."""
        return {
            f"tidies for {tested}": {
                f"taught for {taught}": obstacles(pair.records(taught, tested)) for taught in pair.taught
            }
            for pair in self.pairs
            for tested in pair.people
        }

    def extra_results(self) -> dict[str, Any]:
        """See Experiment.extra_results."""
        return {
            "pairs": [
                {
                    "people": pair.people,
                    "disagreement": pair.disagreement,
                    "gains": {person: vars(gain) if gain else None for person, gain in pair.gains().items()},
                    "things": [vars(thing) for thing in pair.things()],
                }
                for pair in self.pairs
            ]
        }

    def show_things(self, console: Console) -> None:
        """Print where two robots put the same things, and draw the first."""
        for pair in self.pairs:
            things = pair.things()[:_MOST_THINGS]
            one, other = pair.people
            if not things:
                console.print(f"{one} and {other}: their robots put nothing in different places yet")
                continue
            columns = ("thing", "house", "was", f"{one}'s robot", f"{other}'s robot")
            rows = [(thing.name, thing.house, thing.start, thing.one, thing.other) for thing in things]
            title = f"the same thing, tidied by {one}'s and by {other}'s robot"
            console.print(table(title, columns, rows, left=columns))
            path = self.out / f"{one}-{other}.png"
            draw_same_thing(things[0], pair.records(one, things[0].person), pair.people, path)
            console.print(f"picture: {path}", soft_wrap=True)


def _gain_lines(pair: DisagreeingPair) -> list[str]:
    return [
        f"{person}'s own robot minus the majority's, for {person}, episode by episode: {gain} points, n={gain.episodes}"
        for person, gain in pair.gains().items()
        if gain
    ]


def _pair(config: SelfTrainingConfig, named: Sequence[str], out: Path, scene: str) -> DisagreeingPair:
    people, disagreement = find_most_different_people(config, named)
    return DisagreeingPair(config, people, disagreement, out / scene / "-".join(people))


def main(
    overrides: Overrides = None,
    config: ConfigOption = None,
    data: DataOption = None,
    scene: Annotated[str, typer.Option(help="Scene of the data where annotators are tried out.")] = SCENES[0],
    people: Annotated[
        str | None, typer.Option(help="Two of our people, as in ada,bruno; none leaves them out.")
    ] = None,
    annotators: Annotated[
        str | None, typer.Option(help="Two annotators, as in annotator-1,annotator-7; none leaves them out.")
    ] = None,
    model: TrainedModelOption = None,
    adapter: AdapterOption = None,
    base_url: TrainingUrlOption = None,
    simulator: SimulatorOption = None,
    gpu: GpuOption = None,
    workers: WorkersOption = None,
    quick: QuickOption = False,
    show: ShowOption = False,
    out: OutOption = None,
    json_file: JsonOption = None,
) -> None:
    """Teach one person's robot, and try it out for others.

    Examples:

      python -m housewise.experiments.personalize.personalise --quick

      python -m housewise.experiments.personalize.personalise --people ada,bruno --workers 8
    """
    out = out or default_out("personalise", quick)
    given = run_settings(
        **{"data": data, "model": model, "adapter": adapter, "base_url": base_url},
        **{"simulator": simulator, "gpu": gpu, "workers": workers},
    )
    taught = recipe(quick, config, given, overrides or [])
    wanted = {GENERATED: people, **({scene: annotators} if data else {})}
    pairs = [
        _pair(scene_recipe(taught, where, quick), who.split(",") if who else [], out, where)
        for where, who in wanted.items()
        if who != "none"
    ]
    if not pairs:
        where = "; annotators take the Housekeep folder: give --data or HOUSEKEEP_DATA" if not data else ""
        raise UserError(f"nobody to tidy for; leave --people or --annotators out, or name two{where}")
    console = Console()
    experiment = Personalise(pairs, out)
    carry_out(experiment, out, show, console, {"config": shareable(taught), "quick": quick}, json_file=json_file)
    experiment.show_things(console)


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
