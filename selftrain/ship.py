"""Makes a trained adapter fit to be handed on: half the size, nothing but what is needed to use it.

    python -m housewise.selftrain.ship runs/brain/iteration-2/adapter language/adapters/tidy \\
        --made-by "housewise selftrain --config brain --out runs/brain"
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Annotated

import typer

from housewise.core.errors import UserError
from housewise.core.text_files import read_json
from housewise.language.adapters import ADAPTER_CONFIG_FILE
from housewise.language.local.adapters import BASE_MODEL
from housewise.language.local.libraries import convert_save_errors
from housewise.rollout.scores import VERSION

_WEIGHTS = "adapter_model.safetensors"
_FILES = ("adapter_config.json", "README.md")
_TITLE = re.compile(r"^# .*$", re.MULTILINE)


def ship(adapter: Path, target: Path, made_by: str | None = None, title: str | None = None) -> int:
    """Copy an adapter with its weights rounded to bfloat16, and its card with how good it was found to be.

    Args:
        adapter: folder that a local trainer wrote.
        target: folder to write; what is in it is replaced.
        made_by: the command that makes it again, for the card.
        title: of the card, by which it is listed; what the trainer wrote without it.

    Returns:
        Size of the copy in bytes.

    Raises:
        UserError: when a file is missing; the message names it.
    """
    import torch
    from safetensors.torch import load_file, save_file

    missing = [name for name in (_WEIGHTS, *_FILES) if not (adapter / name).is_file()]
    if missing:
        raise UserError(f"{adapter}: has no {missing[0]}; name the adapter/ folder of a self-training's phase")
    weights = {name: tensor.to(torch.bfloat16) for name, tensor in load_file(adapter / _WEIGHTS).items()}
    target.mkdir(parents=True, exist_ok=True)
    with convert_save_errors(target):
        save_file(weights, target / _WEIGHTS, metadata={"format": "pt"})
    # How it is asked is said of planners alone, and earlier versions did not write on which weights it was trained.
    files = [*_FILES, *(name for name in (ADAPTER_CONFIG_FILE, BASE_MODEL) if (adapter / name).is_file())]
    for name in files:
        shutil.copyfile(adapter / name, target / name)
    written = (adapter / "README.md").read_text(encoding="utf-8")
    if title is not None:
        written = _TITLE.sub(lambda _: f"# {title}", written, count=1)
    card = written + _measured(adapter.parent) + _origin(made_by)
    (target / "README.md").write_text(card, encoding="utf-8")
    return sum((target / name).stat().st_size for name in (_WEIGHTS, *files))


def _measured(phase: Path) -> str:
    """What the phase's evaluation found, as a chapter of the card; nothing where there was none."""
    path = phase / "evaluation" / "metrics.json"
    if not path.is_file():
        return ""
    content = read_json(path)
    figures, percent = content["evaluation"], 100 if content.get("version", 1) >= VERSION else 1
    rows = [
        f"| {name} | {row['episodes']} | {percent * row['success_rate']:.1f} ± "
        f"{percent * row['success_rate_stderr']:.1f} "
        f"| {100 * row['executability']:.1f} |"
        for name, row in figures.items()
    ]
    columns = "| tasks | episodes | success, % | steps that could be done, % |"
    head = ["## How good it is", "", columns, "|---|---|---|---|"]
    return "\n".join(["", *head, *rows, ""])


def _origin(made_by: str | None) -> str:
    return f"\n## How it was made\n\n```\n{made_by}\n```\n" if made_by else ""


def main(
    adapter: Annotated[Path, typer.Argument(help="The adapter/ folder of a phase.")],
    target: Annotated[Path, typer.Argument(help="Folder to write.")],
    made_by: Annotated[str | None, typer.Option(help="The command that makes it again, for the card.")] = None,
    title: Annotated[str | None, typer.Option(help="Of the card; housewise list shows it.")] = None,
) -> None:
    """Copy an adapter with its weights rounded to bfloat16, its card and how it is asked."""
    typer.echo(f"{target}: {ship(adapter, target, made_by, title) / 1e6:.1f} MB")


if __name__ == "__main__":
    from housewise.core.console import run_cli

    run_cli(lambda: typer.run(main))
