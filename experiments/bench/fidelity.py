"""How close the embedded simulator comes to Habitat: recorded LLM-Personalize episodes, played again.

    python -m housewise.experiments.bench.fidelity --data HOUSEKEEP --recordings RECORDED_ROLLOUTS \\
        [--json FILE] [--kept FOLDER] [--quick]

Four questions, each with its figures:
* Parser: do recorded steps resolve to the recorded action and target? Those to a room, to the recorded receptacle?
* Effects: from the recorded placements before each action, does the same object end up in the same place?
* Perception: does each action discover the same objects and receptacles, given what was known before it? Also over the
  actions before the first whose number of steps differs: until then the robot stands where the recorded one stood.
* Whole episodes: played through without looking at the record again, how far is our success rate from the recorded?
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence, Set
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.box import SIMPLE_HEAD
from rich.progress import track
from rich.table import Table

from housewise.agent.personalize.plan_normalizer import parse_any_step
from housewise.controller.published_controller import PUBLISHED
from housewise.core.console import Console
from housewise.core.errors import UserError
from housewise.core.files import check_writable_file, write_json
from housewise.core.processes import process_pool
from housewise.core.provenance import provenance
from housewise.core.text_files import read_json
from housewise.experiments.bench.recorded_player import Player, RememberingSimulator
from housewise.experiments.bench.recordings import MissingEpisodeError, RecordedStep, Recording, place_of, recordings_in
from housewise.experiments.quick import QuickOption, say_left_out
from housewise.terminal.option_values import simulator_choice
from housewise.terminal.options import GpuOption, SimulatorOption
from housewise.worlds.house.env import MAX_STEPS
from housewise.worlds.house.high_level_actions import ActionKind, HighLevelAction
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from housewise.worlds.house.simulator import RAYCAST, SimulatorChoice, open_simulator
from housewise.worlds.house.simulator.base import Simulator

_QUICK = 9


@dataclass
class Found:
    """What actions discovered, counted.

    Attributes:
        ours: here.
        recorded: in the record.
        both: in both.
    """

    ours: int = 0
    recorded: int = 0
    both: int = 0

    def add(self, ours: Set[str], recorded: Set[str]) -> None:
        """Count one action's discoveries."""
        self.ours += len(ours)
        self.recorded += len(recorded)
        self.both += len(ours & recorded)


@dataclass
class Compared:
    """What one recorded episode showed, beside ours."""

    scene: str
    condition: str
    parsed: int = 0
    agreed: int = 0
    rooms: int = 0
    rooms_agreed: int = 0
    """Of the parsed steps, those that name a room."""
    left_open: int = 0
    agreed_open: int = 0
    effects: list[tuple[str, str, bool, bool, bool]] = field(default_factory=list)
    """(what, kind of receptacle, moved in the record, moved here, same)."""
    steps: list[tuple[str, int, int]] = field(default_factory=list)
    """(kind of action, recorded, ours)."""
    found: Found = field(default_factory=Found)
    found_in_step: Found = field(default_factory=Found)
    """Before the first action whose number of steps differs."""
    differences: list[tuple[str, str, bool]] = field(default_factory=list)
    """(how, key, in step) of each thing that another action discovered: "early" here and later in the record, "missed"
    here by the action that discovered it in the record, or found by ours "only"."""
    success: float = 0.0
    success_recorded: float = 0.0
    same_places: int = 0
    objects: int = 0


def compare(path: Path, root: Path, chosen: SimulatorChoice = RAYCAST, kept: Path | None = None) -> Compared | None:
    """Play one recording in a simulator, action by action and as a whole.

    Args:
        path: of the recording.
        root: the Housekeep folder.
        chosen: the simulator, and where it renders.
        kept: folder where what came of it is written, and read when it is there already.

    Returns:
        What it showed; None where the data does not have the recorded episode.
    """
    file = kept and kept.joinpath(chosen.name, *place_of(path), path.name)
    if file and file.exists():
        return _read_compared(file)
    try:
        recording = Recording(path, _data(str(root)))
    except MissingEpisodeError:
        return None
    compared = Compared(recording.scene, recording.condition)
    _compare_parsing(recording, compared)
    simulator = RememberingSimulator(_simulator(chosen))
    _compare_actions(recording, simulator, compared)
    _compare_episode(recording, simulator, compared)
    if file:
        write_json(file, asdict(compared))
    return compared


def _read_compared(file: Path) -> Compared:
    try:
        fields = read_json(file)
        found, found_in_step = Found(**fields.pop("found")), Found(**fields.pop("found_in_step"))
        return Compared(**fields, found=found, found_in_step=found_in_step)
    except (UserError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise UserError(f"{file}: holds no comparison ({error}); delete it to play the recording again") from error


def _compare_parsing(recording: Recording, compared: Compared) -> None:
    vocabulary = recording.vocabulary
    for step in recording.steps:
        ours = parse_any_step(step.raw, vocabulary).action
        if step.kind is None:
            compared.left_open += 1
            compared.agreed_open += ours is None
            continue
        agreed = ours is not None and _resolve_keys(ours, recording) == (step.kind, step.thing, step.place)
        compared.parsed += 1
        compared.agreed += agreed
        if ours is not None and ours.target in vocabulary.rooms:
            compared.rooms += 1
            compared.rooms_agreed += agreed


def _resolve_keys(action: HighLevelAction, recording: Recording) -> tuple[ActionKind, str | None, str | None]:
    """An action in the record's terms: kind, object key, receptacle key."""
    keys, objects = recording.keys, {thing.key for thing in recording.task.episode.objects}
    if action.destination is not None:
        return action.kind, keys[action.target], keys[action.destination]
    if action.target not in keys:
        anchor = {room.name: room.anchor for room in recording.task.scene.rooms}[action.target]
        return action.kind, None, anchor
    key = keys[action.target]
    return (action.kind, key, None) if key in objects else (action.kind, None, key)


def _compare_actions(recording: Recording, simulator: Simulator, compared: Compared) -> None:
    player = Player(recording, simulator, max_steps=10**9)
    vocabulary = recording.vocabulary
    in_step, early = True, dict[str, bool]()
    for step in recording.steps:
        ours = parse_any_step(step.raw, vocabulary).action
        if step.kind is None or ours is None:
            continue
        player.world.apply_placements(step.before)
        if step.kind == ActionKind.GO_TO and ours.target in recording.keys:
            # Whoever sets out for something knows it.
            player.seen.add(recording.keys[ours.target])
        seen, start = set(player.seen), player.env.steps
        player.play(ours)
        found, steps = player.seen - seen, player.env.steps - start
        compared.steps.append((step.kind.value, step.steps, steps))
        compared.found.add(found, step.discovered)
        in_step = in_step and steps == step.steps
        if in_step:
            compared.found_in_step.add(found, step.discovered)
        early |= dict.fromkeys(found - step.discovered, in_step)
        for key in sorted(step.discovered - found):
            compared.differences.append(("early", key, early.pop(key)) if key in early else ("missed", key, in_step))
        # Like the placements, what is known is brought up to date with the record after every action.
        player.seen |= step.discovered
        if step.kind in (ActionKind.PICK_UP, ActionKind.PLACE):
            compared.effects.append(_effect(step, player, recording))
    compared.differences.extend(("only", key, was_in_step) for key, was_in_step in sorted(early.items()))


def _effect(step: RecordedStep, player: Player, recording: Recording) -> tuple[str, str, bool, bool, bool]:
    now = player.world.placements
    place = step.place or step.before.get(step.thing or "") or ""
    kind = recording.task.scene.by_key[place].kind if place else "the hand"
    return (
        step.kind.value if step.kind else "",
        kind,
        step.before != step.after,
        any(now[key] != step.before[key] for key in now),
        all(now[key] == step.after[key] for key in now),
    )


def _compare_episode(recording: Recording, simulator: Simulator, compared: Compared) -> None:
    player = Player(recording, simulator, MAX_STEPS)
    vocabulary = recording.vocabulary
    for step in recording.steps:
        action = parse_any_step(step.raw, vocabulary).action
        if action is not None:
            player.play(action)
    world, final = player.world, recording.steps[-1].after
    compared.success = world.success_rate
    world_now = dict(world.placements)
    compared.objects = len(final)
    compared.same_places = sum(world_now[key] == place for key, place in final.items())
    correct = {thing.key: thing.correct for thing in recording.task.episode.objects}
    start = sum(not thing.is_misplaced for thing in recording.task.episode.objects)
    end = sum(place in correct[key] for key, place in final.items())
    compared.success_recorded = (end - start) / len(recording.task.episode.misplaced_objects)


@lru_cache(maxsize=1)
def _data(root: str) -> HousekeepData:
    return HousekeepData(root)


@lru_cache(maxsize=1)
def _simulator(chosen: SimulatorChoice) -> Simulator:
    return open_simulator(chosen, ("instance",))


def figures(results: Sequence[Compared]) -> dict[str, Any]:
    """The figures over recordings; see the module's words for what each one answers."""
    effects = [effect for result in results for effect in result.effects]
    steps = np.array([pair[1:] for result in results for pair in result.steps], dtype=float)
    walks = [pair for result in results for what, *pair in result.steps if what == ActionKind.GO_TO.value and any(pair)]
    precision, recall, f1 = _discovery([result.found for result in results])
    return {
        "episodes": len(results),
        "parse_agreement": sum(r.agreed for r in results) / max(sum(r.parsed for r in results), 1),
        "parsed_steps": sum(r.parsed for r in results),
        "room_agreement": sum(r.rooms_agreed for r in results) / max(sum(r.rooms for r in results), 1),
        "room_steps": sum(r.rooms for r in results),
        "left_open_steps": sum(r.left_open for r in results),
        "parse_left_open_agreement": sum(r.agreed_open for r in results) / max(sum(r.left_open for r in results), 1),
        "effect_agreement": float(np.mean([effect[-1] for effect in effects])) if effects else 0.0,
        "discovery_precision": precision,
        "discovery_recall": recall,
        "discovery_f1": f1,
        "discovery_f1_in_step": _discovery([result.found_in_step for result in results])[-1],
        "discoveries_recorded": sum(r.found.recorded for r in results),
        "discoveries_recorded_in_step": sum(r.found_in_step.recorded for r in results),
        "discoveries_elsewhere": _elsewhere(results),
        "actions": len(steps),
        "actions_of_recorded_length": float((steps[:, 0] == steps[:, 1]).mean()) if len(steps) else 0.0,
        "walks": len(walks),
        "walks_of_recorded_length": float(np.mean([ours == theirs for ours, theirs in walks])) if walks else 0.0,
        "low_level_steps": float(steps[:, 1].mean()) if len(steps) else 0.0,
        "low_level_steps_recorded": float(steps[:, 0].mean()) if len(steps) else 0.0,
        "final_placement_agreement": sum(r.same_places for r in results) / max(sum(r.objects for r in results), 1),
        "success_rate": 100 * float(np.mean([result.success for result in results])),
        "success_rate_recorded": 100 * float(np.mean([result.success_recorded for result in results])),
    }


def _elsewhere(results: Sequence[Compared]) -> dict[str, dict[str, int]]:
    """How many things another action discovered than in the record, in and out of step."""
    places = {True: "in step", False: "out of step"}
    table: dict[str, Counter[str]] = {place: Counter() for place in places.values()}
    for result in results:
        for how, _, in_step in result.differences:
            table[places[in_step]][how] += 1
    return {place: dict(counts) for place, counts in table.items()}


def _most_different(results: Sequence[Compared], most: int = 20) -> dict[str, int]:
    """The things that are most often discovered by another action than in the record."""
    counts = Counter(f"{result.scene} {key}" for result in results for _, key, _ in result.differences)
    return dict(counts.most_common(most))


def _discovery(counts: Sequence[Found]) -> tuple[float, float, float]:
    """Precision, recall and F1."""
    both = sum(found.both for found in counts)
    precision = both / max(sum(found.ours for found in counts), 1)
    recall = both / max(sum(found.recorded for found in counts), 1)
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-9)


def confusion(results: Sequence[Compared]) -> dict[str, dict[str, int]]:
    """Picks and places by kind of receptacle: moved in both, in the record only, here only, in neither."""
    names = {(True, True): "both", (True, False): "record", (False, True): "ours", (False, False): "neither"}
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for what, kind, recorded, ours, _ in (effect for result in results for effect in result.effects):
        table[f"{what}: {kind}"][names[recorded, ours]] += 1
    return {name: dict(counts) for name, counts in sorted(table.items())}


def main(
    data: Annotated[Path, typer.Option(envvar="HOUSEKEEP_DATA", help="The Housekeep folder.")],
    recordings: Annotated[Path, typer.Option(help="Logs of LLM-Personalize, or <scene>/<condition>/<episode>.json.")],
    json_file: Annotated[
        Path | None, typer.Option("--json", callback=check_writable_file, help="Write the figures there.")
    ] = None,
    kept: Annotated[Path | None, typer.Option(help="Keep each recording's part there, and go on from them.")] = None,
    quick: QuickOption = False,
    workers: Annotated[int, typer.Option(help="Processes.")] = 2,
    simulator: SimulatorOption = None,
    gpu: GpuOption = None,
) -> None:
    """Play recorded LLM-Personalize episodes in a simulator and compare."""
    chosen = simulator_choice(simulator, gpu)
    say_left_out(quick, f"every {_QUICK}th recording")
    paths = recordings_in(recordings)[:: _QUICK if quick else 1]
    if not paths:
        raise UserError(
            f"{recordings}: no <run>/demo/<scene>/data_<time>.json or <scene>/<condition>/<episode>.json in it; name "
            "the folder of the logs, or of recordings"
        )
    console, made = Console(), provenance()
    with process_pool(workers) as pool:
        played = pool.map(compare, paths, [data] * len(paths), [chosen] * len(paths), [kept] * len(paths))
        whole = list(track(played, "recordings", total=len(paths), console=console, transient=True))
    results = [each for each in whole if each is not None]
    if not results:
        raise UserError(f"{recordings}: all {len(paths)} recordings are of episodes that {data} does not have")
    groups = {name: [r for r in results if f"{r.scene} {r.condition}" == name] for name in _names(results)}
    content = {
        **figures(results),
        "by_condition": {name: figures(group) for name, group in groups.items()},
        "confusion": confusion(results),
        "most_different": _most_different(results),
        "simulator": chosen.name,
        "settings": PUBLISHED.model_dump(),
        "quick": quick,
        **made,
    }
    _print(console, content)
    if left_out := len(whole) - len(results):
        console.print(f"left out: {left_out} of {len(whole)} recordings, whose episodes {data} does not have")
    if json_file is not None:
        write_json(json_file, content)


def _names(results: Sequence[Compared]) -> list[str]:
    return sorted({f"{result.scene} {result.condition}" for result in results})


def _print(console: Console, content: dict[str, Any]) -> None:
    kinds = Table(title="picks and places by receptacle: moved in ...")
    for column in ("", "both", "record only", "ours only", "neither"):
        kinds.add_column(column, justify="left" if not column else "right")
    for name, counts in content["confusion"].items():
        kinds.add_row(name, *(str(counts.get(key, 0)) for key in ("both", "record", "ours", "neither")))
    console.print(kinds)
    table = Table(title="recorded episodes, played again", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column in (
        "condition",
        "n",
        "parse",
        "effect",
        "found",
        "steps",
        "rec.",
        "succ. %",
        "rec. %",
    ):
        first = column == "condition"
        table.add_column(column, justify="left" if first else "right", no_wrap=True)
    for name, row in {**content["by_condition"], "all": content}.items():
        table.add_row(
            name.replace("_int", ""),
            str(row["episodes"]),
            f"{row['parse_agreement']:.2f}",
            f"{row['effect_agreement']:.2f}",
            f"{row['discovery_f1']:.2f}",
            f"{row['low_level_steps']:.1f}",
            f"{row['low_level_steps_recorded']:.1f}",
            f"{row['success_rate']:.1f}",
            f"{row['success_rate_recorded']:.1f}",
        )
    console.print(table)
    console.print(
        f"parse_agreement {content['parse_agreement']:.4f}  room_agreement {content['room_agreement']:.4f} of "
        f"{content['room_steps']} steps  effect_agreement {content['effect_agreement']:.4f}  "
        f"discovery_f1 {content['discovery_f1']:.4f} (precision {content['discovery_precision']:.3f}, recall "
        f"{content['discovery_recall']:.3f}; in step {content['discovery_f1_in_step']:.3f})"
    )


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
