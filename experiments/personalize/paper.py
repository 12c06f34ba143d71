"""The tables of LLM-Personalize (arXiv 2404.14285): their command line, and one folder that all of them share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer

from housewise.core.console import Console
from housewise.core.errors import UserError, suggest_names
from housewise.core.files import check_writable, check_writable_file, write_text
from housewise.core.formatting import format_duration
from housewise.core.plots import new_figure
from housewise.core.tables import table
from housewise.core.text_files import read_json
from housewise.experiments.personalize.obstacles import DISTURBED, FATES
from housewise.experiments.personalize.study import (
    ALL_SCENES,
    GENERATED,
    RECOVERED,
    SCENES,
    SceneStudy,
    recipe,
    scene_recipe,
)
from housewise.experiments.quick import QuickOption, say_left_out
from housewise.experiments.results import Results, write
from housewise.selftrain.personalize.settings import (
    SelfTrainingConfig,
)
from housewise.selftrain.training_folder import TrainingObserver
from housewise.systems.personalize.system import Personalize
from housewise.terminal.options import (
    ConfigOption,
    DataOption,
    GpuOption,
    Overrides,
    PersonOption,
    SimulatorOption,
    TrainedModelOption,
    TrainingUrlOption,
    WorkersOption,
)
from housewise.terminal.selftrain_progress import TrainingDisplay
from housewise.worlds.house.housekeep.recovered_tasks import read_recovered_tasks, write_recovered_episodes


class Experiment(Protocol):
    """What one of the paper's tables, or one of our own, takes."""

    name: str

    def play(self, observer: TrainingObserver) -> None:
        """Play, and learn, what is still missing."""
        ...

    def results(self) -> list[Results]:
        """Tables of what is there, the main one first."""
        ...

    def obstacles(self) -> dict[str, dict[str, Any]]:
        """What stands in the way, by tasks and then by row; see housewise.experiments.personalize.obstacles.

        Nothing, where it is left to the reports of the runs.
        """
        return {}

    def extra_results(self) -> dict[str, Any]:
        """Whatever else belongs in the JSON file."""
        ...


class SceneExperiment(Experiment, Protocol):
    """An experiment over scenes.

    Attributes:
        studies: one for each scene.
    """

    studies: Sequence[SceneStudy]


def carry_out(
    experiment: Experiment,
    out: Path,
    only_show: bool,
    console: Console,
    setup: Mapping[str, Any],
    whole: Experiment | None = None,
    json_file: Path | None = None,
) -> None:
    """Play what is missing, then print and write what there is; that also when the playing is cut short.

    Args:
        experiment: what to do, and to print.
        out: folder for the tables.
        only_show: play nothing.
        console: where progress and tables go.
        setup: settings for the JSON file; ``quick`` has to be what it was in this folder.
        whole: all that the folder's files tell of, where that is more than the experiment.
        json_file: where the JSON file goes as well.

    Raises:
        UserError: when something outside the program is wrong; what is finished is kept and shown.
    """
    _check_quick(out / f"{experiment.name}.json", bool(setup["quick"]))
    # Now rather than after hours of playing.
    new_figure(1, 1)
    if not only_show:
        check_writable(out)
        say_left_out(bool(setup["quick"]), "one task of each kind, played once, for a few steps")
        # A copy: what there is of results is read once.
        console.print(measured_ahead(deepcopy(experiment).results()), soft_wrap=True)
    try:
        if not only_show:
            experiment.play(TrainingDisplay(console))
    finally:
        for each in experiment.results():
            each.show(console)
        for tasks, rows in experiment.obstacles().items():
            show_obstacles(tasks, rows, console)
        told = whole or experiment
        paths = write(told.results(), out, told.name, {"obstacles": told.obstacles(), **told.extra_results(), **setup})
        if json_file is not None:
            paths.append(json_file)
            write_text(json_file, (out / f"{told.name}.json").read_text(encoding="utf-8"))
        console.print(f"written: {', '.join(map(str, paths))}", soft_wrap=True)


_BUNDLED_SECONDS = Personalize.seconds_per_episode[1] or 0.0


def measured_ahead(results: Sequence[Results]) -> str:
    """How many episodes some tables measure, and roughly how long those take that are missing, in a line.

    Args:
        results: the tables, as far as they have been played; rows and columns of one name are the same episodes.
    """
    cells = {(cell.row, cell.column): cell for each in results for cell in each.cells if cell.expected}
    expected = sum(cell.expected or 0 for cell in cells.values())
    done = sum((cell.ours.episodes or 0) if cell.ours else 0 for cell in cells.values())
    left = max(expected - done, 0)
    there = f", {done} of them there already" if done else ""
    return (
        f"{len(cells)} figures over {expected} episodes{there}; at {_BUNDLED_SECONDS:.0f} s each, as with the bundled "
        f"model and its adapter on two CPU cores, {format_duration(left * _BUNDLED_SECONDS)}, besides what is "
        "learned from"
    )


def _check_quick(earlier: Path, quick: bool) -> None:
    """Quick figures are not to be taken for others, nor others for quick ones."""
    try:
        was = read_json(earlier)["quick"]
    except (UserError, ValueError, KeyError, TypeError):
        return
    if was != quick:
        words = {True: "with --quick", False: "without --quick"}
        raise UserError(f"{earlier.parent}: holds figures {words[was]}; choose another folder with --out")


_LINES: tuple[tuple[str, str, str], ...] = (
    *(("things", fate, f"things {fate}") for fate in FATES),
    ("things", DISTURBED, "right things taken away"),
    ("unfamiliar", "share", "things of kinds not learned"),
    ("unfamiliar", "tidied", "... of these tidied"),
    ("unfamiliar", "familiar tidied", "... of the others tidied"),
    ("steps", "failed", "steps failed"),
    ("steps", "not understood", "steps not understood"),
    ("endings", "out of steps", "episodes out of steps"),
)


def show_obstacles(tasks: str, ways: Mapping[str, Mapping[str, Any]], console: Console) -> None:
    """Print what stands in the way, a column for each row of the results that has been played.

    Args:
        tasks: said in the title.
        ways: by row; see housewise.experiments.personalize.obstacles.
        console: where it goes.
    """
    played = {row: way for row, way in ways.items() if way.get("things")}
    lines = [
        (words, *(_percent(way, part, name) for way in played.values()))
        for part, name, words in _LINES
        if any(part in way for way in played.values())
    ]
    if played:
        title = f"{tasks}: what stands in the way, % of misplaced things, of steps, of episodes"
        console.print(table(title, ("", *played), lines))


def _percent(way: Mapping[str, Mapping[str, float]], part: str, name: str) -> str:
    if part == "unfamiliar" and name not in way.get(part, {}):
        return "–"
    return f"{100 * way[part].get(name, 0.0):.0f}"


ScenesOption = Annotated[
    list[str] | None, typer.Option("--scene", help=f"Scene of the data, or {GENERATED}; may be given several times.")
]
RowsOption = Annotated[list[str] | None, typer.Option("--row", help="Only this row; may be given several times.")]
OutOption = Annotated[
    Path | None,
    typer.Option(help="Everything goes there, and what is there is gone on with; runs/<name>, or runs/<name>-quick."),
]
AdapterOption = Annotated[
    str | None,
    typer.Option(help="Adapter to start from, as for housewise run: its rows are marked, baselines lack it."),
]
RecoveredOption = Annotated[
    Path | None, typer.Option(help=f"JSON file of recovered tasks, for {' and '.join(RECOVERED)} as well.")
]
ShowOption = Annotated[bool, typer.Option("--show", help="Play nothing: show what is there, and write the files anew.")]


JsonOption = Annotated[
    Path | None, typer.Option("--json", callback=check_writable_file, help="Write the JSON file there as well.")
]


def run_settings(**options: Any) -> dict[str, Any]:
    """Options of the command line that were given, as settings of a run."""
    plain = {key: str(value) if isinstance(value, Path) else value for key, value in options.items()}
    return {"run": {key: value for key, value in plain.items() if value is not None}}


def command(
    make: Callable[[list[SceneStudy], Sequence[str] | None], SceneExperiment], quick_scenes: int, about: str | None
) -> Callable[..., None]:
    """The command line of a table over scenes.

    Args:
        make: the experiment of some scenes, with the rows that were asked for, None for all.
        quick_scenes: how many scenes ``--quick`` takes.
        about: what it says of itself.
    """

    def main(
        overrides: Overrides = None,
        config: ConfigOption = None,
        data: DataOption = None,
        scenes: ScenesOption = None,
        rows: RowsOption = None,
        person: PersonOption = None,
        model: TrainedModelOption = None,
        adapter: AdapterOption = None,
        base_url: TrainingUrlOption = None,
        simulator: SimulatorOption = None,
        gpu: GpuOption = None,
        workers: WorkersOption = None,
        recovered: RecoveredOption = None,
        quick: QuickOption = False,
        show: ShowOption = False,
        out: OutOption = None,
        json_file: JsonOption = None,
    ) -> None:
        out = out or default_out("paper", quick)
        given = run_settings(
            **{"data": data, "person": person, "model": model, "adapter": adapter, "base_url": base_url},
            **{"simulator": simulator, "gpu": gpu, "workers": workers},
        )
        taught = recipe(quick, config, given, overrides or [])
        chosen = scenes or [*SCENES, *(RECOVERED if recovered else ())]
        chosen = chosen[:quick_scenes] if quick and not scenes else chosen
        folders = recovered_folders(data, recovered, out) if recovered and set(chosen) & set(RECOVERED) else {}

        def study(scene: str) -> SceneStudy:
            config = _with_data(taught, folders.get(scene))
            # What is shown are records; it does not take the data.
            return SceneStudy(
                config if show and config.run.tasks.data is None else scene_recipe(config, scene, quick), scene, out
            )

        experiment = make([study(scene) for scene in chosen], rows)
        playable = {*(SCENES if data or show else ()), *folders, GENERATED}
        others = [scene for scene in playable - set(chosen) if (out / scene).is_dir()]
        everything = [*experiment.studies, *map(study, others)]
        whole = (
            make(sorted(everything, key=lambda each: ALL_SCENES.index(each.scene)), None) if rows or others else None
        )
        carry_out(experiment, out, show, Console(), {"config": shareable(taught), "quick": quick}, whole, json_file)

    main.__doc__ = about
    return main


def default_out(name: str, quick: bool) -> Path:
    """Where an experiment's files go when nobody says."""
    return Path("runs") / (f"{name}-quick" if quick else name)


def recovered_folders(data: Path | None, recovered: Path, out: Path) -> dict[str, Path]:
    """Where the episodes of scenes with recovered tasks are, made where they are not."""
    if data is None:
        raise UserError("recovered tasks take the Housekeep folder as well; name it with --data or HOUSEKEEP_DATA")
    return dict.fromkeys(RECOVERED, write_recovered_episodes(data, read_recovered_tasks(recovered), out / "housekeep"))


def _with_data(recipe: SelfTrainingConfig, data: Path | None) -> SelfTrainingConfig:
    """A recipe with other data, unless there are none."""
    if data is None:
        return recipe
    return recipe.model_copy(update={"run": recipe.run.with_changes(data=str(data))})


def shareable(config: SelfTrainingConfig) -> dict[str, Any]:
    """Settings without where things are on this machine."""
    return config.model_dump(
        exclude={
            "run": {"tasks": {"data"}, "agent": {"records"}, "models": {"agent": {"base_url"}}, "memory": {"folder"}}
        }
    )


def chosen_rows(asked: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """The rows of a table.

    Raises:
        UserError: for one that it does not have.
    """
    for row in asked or ():
        if row not in known:
            raise UserError(f"no row {row!r}; {suggest_names(row, known)}")
    return [row for row in known if not asked or row in asked]
