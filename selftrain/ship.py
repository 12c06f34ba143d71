"""Makes a trained adapter fit to be handed on: half the size, nothing but what is needed to use it.

python -m selftrain.ship runs/brain/imitate/adapter shared/tidy
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from agent.adapters import WORDING
from household.errors import UserError

_WEIGHTS = "adapter_model.safetensors"
_FILES = ("adapter_config.json", "README.md", WORDING)


def ship(adapter: Path, target: Path) -> int:
    """Copy an adapter with its weights rounded to bfloat16.

    Args:
        adapter: folder that a local trainer wrote.
        target: folder to write; what is in it is replaced.

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
    save_file(weights, target / _WEIGHTS, metadata={"format": "pt"})
    for name in _FILES:
        shutil.copyfile(adapter / name, target / name)
    return sum((target / name).stat().st_size for name in (_WEIGHTS, *_FILES))


def main(
    adapter: Annotated[Path, typer.Argument(help="The adapter/ folder of a phase.")],
    target: Annotated[Path, typer.Argument(help="Folder to write.")],
) -> None:
    """Copy an adapter with its weights rounded to bfloat16, its card and its prompt."""
    typer.echo(f"{target}: {ship(adapter, target) / 1e6:.1f} MB")


if __name__ == "__main__":
    from experiments.cli import guarded

    guarded(lambda: typer.run(main))
