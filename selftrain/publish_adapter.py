r"""Prepares a trained adapter for distribution: half the size, and only the files that are needed to use it.

For example:

    python -m housewise.selftrain.publish_adapter runs/attentive/imitate/adapter housewise/language/adapters/tidy \
        --made-by "housewise selftrain --config attentive --out runs/attentive"
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from housewise.core.errors import UserError
from housewise.core.text_files import read_json
from housewise.language.adapters import ADAPTER_CONFIG_FILE, FORMER_CONFIG_FILE
from housewise.language.local.adapters import BASE_MODEL
from housewise.language.local.libraries import convert_save_errors
from housewise.rollout.scores import VERSION

_WEIGHTS = "adapter_model.safetensors"
_FILES = ("adapter_config.json", "README.md")
_TITLE = re.compile(r"^# .*$", re.MULTILINE)


def publish_adapter(adapter: Path, target: Path, made_by: str | None = None, title: str | None = None) -> int:
    """Copy an adapter with its weights rounded to bfloat16, and its card with the figures of its evaluation.

    Args:
        adapter: Folder that a local trainer wrote.
        target: Folder to write; existing files are replaced.
        made_by: The command that made the adapter, for the card.
        title: Title of the card, by which the adapter is listed; the trainer's title by default.

    Returns:
        Size of the copy in bytes.

    Raises:
        UserError: A file is missing; the message names it.
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
    # Only adapters of planners have defaults, and earlier versions did not record the base model.
    more = (ADAPTER_CONFIG_FILE, FORMER_CONFIG_FILE, BASE_MODEL)
    files = [*_FILES, *(name for name in more if (adapter / name).is_file())]
    for name in files:
        shutil.copyfile(adapter / name, target / name)
    card = (adapter / "README.md").read_text(encoding="utf-8")
    if title is not None:
        card = _TITLE.sub(lambda _: f"# {title}", card, count=1)
    card += _evaluation_section(adapter.parent) + _command_section(made_by)
    (target / "README.md").write_text(card, encoding="utf-8")
    return sum((target / name).stat().st_size for name in (_WEIGHTS, *files))


def _evaluation_section(phase: Path) -> str:
    """Return a section of the card with the figures of the phase's evaluation, or an empty text without one."""
    path = phase / "evaluation" / "metrics.json"
    if not path.is_file():
        return ""
    content = read_json(path)
    figures, percent = content["evaluation"], 100 if content.get("version", 1) >= VERSION else 1
    # No step was planned where there is no such share.
    shares = {name: row.get("executability") for name, row in figures.items()}
    rows = [
        f"| {name} | {row['episodes']} | {percent * row['success_rate']:.1f}{_error(row, percent)} "
        f"| {'–' if shares[name] is None else f'{100 * shares[name]:.1f}'} |"
        for name, row in figures.items()
    ]
    columns = "| tasks | episodes | success, % | steps that could be done, % |"
    head = ["## How good it is", "", columns, "|---|---|---|---|"]
    return "\n".join(["", *head, *rows, ""])


def _error(row: Mapping[str, Any], percent: int) -> str:
    error = row["success_rate_stderr"]
    return "" if error is None else f" ± {percent * error:.1f}"


def _command_section(made_by: str | None) -> str:
    return f"\n## How it was made\n\n```\n{made_by}\n```\n" if made_by else ""


def main(
    adapter: Annotated[Path, typer.Argument(help="The adapter/ folder of a phase.")],
    target: Annotated[Path, typer.Argument(help="Folder to write.")],
    made_by: Annotated[str | None, typer.Option(help="The command that made the adapter, for the card.")] = None,
    title: Annotated[str | None, typer.Option(help="Title of the card, which housewise list shows.")] = None,
) -> None:
    """Copy an adapter with its weights rounded to bfloat16, its card and its defaults."""
    typer.echo(f"{target}: {publish_adapter(adapter, target, made_by, title) / 1e6:.1f} MB")


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
