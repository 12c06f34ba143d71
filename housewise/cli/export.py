"""``housewise export``: runs in the formats of other tools."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from housewise.core.console import Console, print_lines
from housewise.terminal.option_values import simulator_choice
from housewise.terminal.options import NewestRunArgument, Overrides, SimulatorOptions, option
from housewise.terminal.run_folders import newest_run


def export(
    renderer: SimulatorOptions,
    folder: NewestRunArgument = None,
    overrides: Overrides = None,
    to: Annotated[str, option("FORMAT", "rerun, lerobot, llamafactory, trl or openai.")] = "rerun",
    out: Annotated[Path | None, option("FOLDER", "A new folder. Default: one in the run's folder.")] = None,
) -> None:
    """Export the episodes of a run to Rerun, LeRobot, LLaMA-Factory, TRL or OpenAI.

    Examples:

      housewise export runs/scripted

      housewise export runs/scripted --to lerobot --out datasets/scripted

      housewise export runs/basis --to llamafactory perception=words reasoning=false

    rerun writes a recording of each episode for the viewer of Rerun: camera pictures, poses, plans, events and rewards.
    It needs pip install 'housewise[rerun]'. lerobot writes one LeRobotDataset (Parquet and MP4) for training policies.
    It needs pip install 'housewise[lerobot]'. llamafactory, trl and openai write training data from sessions of BASIS:
    what the assistant was given and what it replied, turn by turn, in sessions that succeeded. Only they have settings
    (docs/basis.md). The episodes are replayed for all formats; nothing is uploaded.
    """
    from housewise.core.progress import progress_bars
    from housewise.export import export_run

    folder = folder or newest_run(nested=False)
    target = out or folder / to
    console = Console()

    with progress_bars(console) as progress:
        task = progress.add_task("episodes", total=None)

        def show_progress(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        export_run(
            folder,
            to,
            target,
            simulator_choice(**vars(renderer)),
            show_progress,
            partial(print_lines, console),
            overrides or (),
        )
    print_lines(console, f"{to}: {target}")
