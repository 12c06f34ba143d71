"""What grounded decoding and checked plans do: how much of plans can be understood and done, and how tidy houses get.

    python -m housewise.experiments.personalize.grounding [--model local] [--adapter NAME] [--houses 10] \\
        [--checked] [--quick] [--json FILE] [SETTING ...]

The same model plays the same episodes twice, once free to write anything, once held to the names and actions that the
scene graph allows. With ``--checked`` it plays each of them once more with its plans checked before a step is taken
(STARS, analysis): what cannot be done is refused with the reason, and left out in the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from housewise.agent.personalize.grammar import plan_grammar
from housewise.agent.personalize.planner import MOST_STEPS
from housewise.agent.personalize.prompt import PromptTemplate
from housewise.core.console import Console
from housewise.core.errors import UserError
from housewise.core.files import check_writable_file, write_json
from housewise.core.provenance import provenance
from housewise.core.tables import table
from housewise.experiments.personalize.oracle import in_percent
from housewise.experiments.personalize.study import success
from housewise.experiments.quick import say_left_out
from housewise.experiments.results import Figure
from housewise.language import ChatModel, ChatRequest, Message, Sampling, open_model
from housewise.rollout.run import Run
from housewise.rollout.scores import summarize
from housewise.systems.personalize.record import HouseRecord, read_house_records
from housewise.systems.personalize.settings import PersonalizeSettings, house_settings
from housewise.systems.personalize.system import Personalize
from housewise.terminal.options import Overrides
from housewise.worlds.house.scene_graph import SceneGraph, SymbolicObservation

ARMS = {"free": False, "grounded": True}
CHECKED = " and checked"

_QUICK = {"houses": 4, "workers": 4, "max_plans": 6}


def configs(
    quick: bool, overrides: Sequence[str] = (), checked: bool = False, **given: Any
) -> dict[str, PersonalizeSettings]:
    """The settings of the runs.

    Args:
        quick: few houses and plans.
        overrides: further settings, as in ``sampling.temperature=0.7``.
        checked: whether plans are checked in further runs.
        **given: settings that differ from the defaults; None keeps the default.
    """
    settings = {"planner": "llm", **{key: value for key, value in given.items() if value is not None}}
    settings = {**(_QUICK if quick else {"houses": 10, "workers": 4}), **settings}
    found = {arm: house_settings(None, {**settings, "grounded": held}, overrides) for arm, held in ARMS.items()}
    if checked:
        for arm, run in list(found.items()):
            found[f"{arm}{CHECKED}"] = run.with_changes(wrappers=[*run.agent.wrappers, "check_feasibility"])
    return found


def play(config: PersonalizeSettings, folder: Path) -> list[HouseRecord]:
    """Play a run, or what is left of it, and read its records."""
    run = Run(Personalize(config), folder)
    run.play()
    return [record for record in read_house_records(run.episodes) if record.name in {job.name for job in run.jobs}]


def figures(records: Sequence[HouseRecord]) -> dict[str, Any]:
    """What comes of a run's plans: the usual figures, and the share of steps that could be understood."""
    actions = [action for record in records for action in record.actions]
    return {
        **in_percent(
            summarize(
                [record.result for record in records], Personalize.scores, [record.header.task for record in records]
            )
        ),
        "understood": sum(action.action is not None for action in actions) / len(actions) if actions else 0.0,
    }


def writing(
    model: ChatModel, records: Sequence[HouseRecord], words: PromptTemplate, rounds: int = 3
) -> dict[str, float]:
    """Seconds that a model takes for each token of a row, free and grounded, in the best of some rounds.

    Both answer the last prompt of the first record, eight replies at once, and take turns, so that whatever else the
    machine does slows both. The reading of the prompt and of the grammar is included.
    """
    plan = [plan for plan in records[0].plans if plan.prompt][-1]
    messages = tuple(Message(**message) for message in plan.prompt)  # type: ignore[arg-type]
    graph = _graph(plan.scene_graph)
    grammar = plan_grammar(graph, MOST_STEPS, words.prompt_names(graph), words.judging)
    best: dict[str, float] = {}
    for number in range(rounds):
        for arm, grounded in ARMS.items():
            sampling = Sampling(n=8, max_tokens=48, seed=number)
            replies = model.complete([ChatRequest(messages, sampling, words.prefix, grammar if grounded else None)])[0]
            seconds = replies[0].seconds / max(reply.completion_tokens for reply in replies)
            best[arm] = min(seconds, best.get(arm, seconds))
    return best


def _graph(known: Mapping[str, Mapping[str, Sequence[str]]]) -> SceneGraph:
    graph = SceneGraph(known)
    receptacles = {place: room for room, places in known.items() for place in places}
    graph.update(
        SymbolicObservation(
            receptacles, {thing: place for places in known.values() for place in places for thing in places[place]}
        )
    )
    return graph


def main(
    overrides: Overrides = None,
    model: Annotated[str, typer.Option(help="As for housewise run.")] = "local",
    base_url: Annotated[str | None, typer.Option(help="An OpenAI-compatible server that takes grammars.")] = None,
    adapter: Annotated[
        str | None,
        typer.Option(help="The trained model: folder of a PEFT adapter, or tidy, which is packaged."),
    ] = None,
    data: Annotated[Path | None, typer.Option(envvar="HOUSEKEEP_DATA", help="Housekeep folder.")] = None,
    scene: Annotated[list[str] | None, typer.Option(help="Scene of the data; may be given several times.")] = None,
    episodes: Annotated[str, typer.Option(help="Task set of the data.")] = "test",
    houses: Annotated[
        int | None,
        typer.Option(min=1, help="Generated houses, where no scene is given; 10, or 4 with --quick."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the first house.")] = 0,
    runs: Annotated[int, typer.Option(min=1, help="How often each episode is played.")] = 1,
    workers: Annotated[int | None, typer.Option(min=1, help="Episodes played at the same time; 4.")] = None,
    checked: Annotated[bool, typer.Option("--checked", help="Play with plans that are checked as well.")] = False,
    quick: Annotated[bool, typer.Option(help="Four houses, six plans each.")] = False,
    out: Annotated[Path | None, typer.Option(help="Keep the records there; what is there is resumed.")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", callback=check_writable_file, help="Write the figures there.")
    ] = None,
) -> None:
    """Play the same episodes with free and with grounded replies.

    Examples:

      python -m housewise.experiments.personalize.grounding --quick

      python -m housewise.experiments.personalize.grounding --adapter tidy --houses 20 --workers 20 \\
          --json grounding.json
    """
    if scene and not data:
        raise UserError(f"{scene[0]}: scenes are of the Housekeep data; give --data or HOUSEKEEP_DATA")
    house = {"data": str(data), "scenes": scene, "episodes": episodes} if data and scene else {"houses": houses}
    planned = configs(
        quick,
        overrides or (),
        checked,
        model=model,
        base_url=base_url,
        adapter=adapter,
        seed=seed,
        repeats=runs,
        workers=workers,
        **house,
    )
    say_left_out(quick, f"{_QUICK['houses']} houses, {_QUICK['max_plans']} plans in each")
    console, made = Console(), provenance()
    played: dict[str, list[HouseRecord]] = {}
    speeds: dict[str, float] = {}
    with TemporaryDirectory() if out is None else nullcontext(str(out)) as folder:
        for arm, config in planned.items():
            with console.status(f"playing {arm}"):
                played[arm] = play(config, Path(folder) / arm)
    content = {arm: figures(records) for arm, records in played.items()}
    gains = {
        arm: Figure.from_gains(records, played["free"], success) for arm, records in played.items() if arm != "free"
    }
    if model.startswith("local"):
        with console.status("timing"), closing(open_model(model, adapter=adapter)) as opened:
            speeds = writing(opened, played["grounded"], PromptTemplate.load(planned["free"].agent.prompt))
    _show(console, content)
    for arm, gain in gains.items():
        console.print(f"success, {arm} - free, episode by episode: {gain} points", soft_wrap=True)
    if speeds:
        told = ", ".join(f"{1000 * seconds:.1f} {arm}" for arm, seconds in speeds.items())
        console.print(f"milliseconds for a token of eight replies: {told}", soft_wrap=True)
    if json_file is not None:
        setup = {"config": planned["free"].model_dump(exclude={"data", "grounded"}), "quick": quick}
        write_json(
            json_file,
            {
                "arms": content,
                "gains": {arm: vars(gain) if gain else None for arm, gain in gains.items()},
                "seconds_per_token": speeds,
                **setup,
                **made,
            },
        )


def _show(console: Console, content: dict[str, dict[str, Any]]) -> None:
    columns = ("replies", "n", "understood", "done", "put", "success", "± s.e.", "plans")
    rows = [
        (
            arm,
            str(row["episodes"]),
            f"{100 * row['understood']:.1f}",
            f"{100 * row['executability']:.1f}",
            f"{row['unique_placements']:.1f}",
            f"{row['success_rate']:.1f}",
            f"{row['success_rate_stderr']:.1f}",
            f"{row['plans']:.0f}",
        )
        for arm, row in content.items()
    ]
    console.print(table("steps understood and done, and success, %", columns, rows))


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
