"""The game of ``housewise play lab``: the player is the person in the lab, and the scripted oracle guides them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import cast

from housewise.core.console import Console, print_lines
from housewise.core.errors import UserError, suggest_names
from housewise.core.formatting import plural
from housewise.people.lab.terminal_user import describe_result
from housewise.people.respondent import RespondentLeft
from housewise.rollout.record_reader import read_record
from housewise.rollout.run import Run
from housewise.systems.basis.record import LabActionEvent
from housewise.systems.basis.system import Basis
from housewise.systems.basis.world import SOLVED
from housewise.terminal.run_folders import dated_name, run_folder, shell_command
from housewise.worlds.lab.actions import Verb
from housewise.worlds.lab.history import replace_names
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.rules import DONE
from housewise.worlds.lab.scenarios import MAX_ACTIONS
from housewise.worlds.lab.variants import VARIANTS, Variant


def play_lab(
    name: str, seed: int, split: str, wording: str, has_assistant: bool, out: Path | None, console: Console
) -> None:
    """Play a session as the person, and record it as an ordinary run.

    Args:
        name: Name of a variant, or of a task for its first variant.
        seed: Seed of the scenario.
        split: Whether the scenario is for training or for tests.
        wording: Wording of the assistant.
        has_assistant: Whether there is an assistant.
        out: Folder of the run. None for a new one.
        console: Where everything is printed.

    Raises:
        UserError: The variant, the split or the wording does not exist.
    """
    variant = find_variant_or_task(name)
    tasks = {"variant": [variant.name], "seed": seed, "split": split, "person": "terminal"}
    agent = {"planner": "oracle" if has_assistant else "silent", "wording": wording}
    system = Basis(Basis.load(settings={"tasks": tasks, "agent": agent}))
    with run_folder(out, dated_name(variant.goal.task)) as folder:
        session = Run(system, folder)
        if not session.open_jobs:
            raise UserError(f"{folder}: holds a finished session; name another folder with --out, or leave it out")
        try:
            session.play()
        except RespondentLeft:
            if out is None:
                shutil.rmtree(folder, ignore_errors=True)
            print_lines(console, f"You left the lab. Not done: {variant.mission}")
            return
        _print_end(session, console)


def find_variant_or_task(name: str) -> Variant:
    """Return a variant by its name or, by the name of a task, the simplest variant of the task.

    Raises:
        UserError: There is none.
    """
    named = [each for each in VARIANTS if name in (each.name, each.goal.task)]
    if not named:
        tasks = list(dict.fromkeys(each.goal.task for each in VARIANTS))
        known = [each.name for each in VARIANTS if each.goal.task == name.partition("__")[0]] or tasks
        raise UserError(f"there is no variant or task {name!r}; {suggest_names(name, known)}")
    return min(named, key=lambda each: each.precondition != "simple")


def _print_end(session: Run, console: Console) -> None:
    """Print what became of the last action, how the session ended, and where its record is."""
    path = session.episodes / f"{session.jobs[0].name}.jsonl"
    record = read_record(path)
    last = [event for event in record.events if isinstance(event, LabActionEvent)][-1]
    scores, reached = record.result.scores, record.result.final["attempts"][0]
    kind = KINDS.get(last.argument.rpartition("_")[0])
    name = (kind.fuzzy or kind.name) if kind else last.argument
    result = describe_result(cast(Verb, last.verb), name, last.status == DONE.status, replace_names(last.message))
    print_lines(console, f"[{scores['steps']:.0f} of {MAX_ACTIONS}] {result}")
    is_done = record.result.end_reason == SOLVED
    done = "You have done it" if is_done else f"Not done ({record.result.end_reason})"
    subgoals = record.header.initial_state["subgoals"]
    print_lines(
        console,
        f"{done}: {record.header.initial_state['mission']}",
        f"{plural(int(scores['steps']), 'action')}, {scores['user_turns']:.0f} of them speech; "
        f"{len(reached)} of {plural(len(subgoals), 'subgoal')}: {', '.join(reached).replace('_', ' ') or 'none'}",
        f"record: {path}",
        f"look at it: {shell_command('report', session.folder)}",
    )
