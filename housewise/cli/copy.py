"""``housewise copy``: copy a bundled file as a starting point."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from housewise.core.console import Console, print_lines
from housewise.core.errors import UserError, suggest_names
from housewise.terminal.catalogue import NAME_KINDS, bundled_files

_KINDS = {"person": "people", "prompt": "prompts", "config": "configs"}


def _complete_name(context: typer.Context, incomplete: str) -> list[str]:
    kind = _KINDS.get(context.params.get("kind") or "")
    return [name for name in bundled_files(kind) if name.startswith(incomplete)] if kind else []


def copy(
    kind: Annotated[
        str,
        typer.Argument(metavar="KIND", help=f"Kind of file: {', '.join(_KINDS)}.", autocompletion=lambda: list(_KINDS)),
    ],
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Name of a bundled file; see housewise list.", autocompletion=_complete_name
        ),
    ],
    to: Annotated[
        Path | None,
        typer.Argument(metavar="TO", help="A new file, or a folder. Default: NAME.yaml.", show_default=False),
    ] = None,
) -> None:
    """Copy a bundled person, prompt or configuration to a file of your own, to start from.

    Examples:

      housewise copy person ada my-person.yaml

      housewise copy config tidy

      # a person of the kitchen: housewise run --system adapt --person nalini.yaml
      housewise copy person nalini

    The option that accepts the name accepts the file as well: housewise run --person my-person.yaml. A file that exists
    is not overwritten.
    """
    if kind not in _KINDS:
        raise UserError(f"no kind of file is called {kind}; {suggest_names(kind, list(_KINDS))}")
    files = bundled_files(_KINDS[kind])
    if kind == "config" and name not in files:
        from housewise.core.configs import find_config

        find_config(Path(name))  # says what there is instead
    if name not in files:
        raise UserError(f"no {kind} {name!r} is bundled; {suggest_names(name, list(files))}")
    own_name = f"{Path(name).name}.yaml"
    target = to or Path(own_name)
    if target.is_dir():
        target /= own_name
    try:
        # Mode x: a file that another program creates at this moment is not overwritten either.
        with files[name].open("rb") as source, target.open("xb") as copied:
            shutil.copyfileobj(source, copied)
    except FileExistsError:
        raise UserError(f"{target}: exists already; name another file") from None
    except OSError as error:
        raise UserError(f"{target}: cannot be written ({error.strerror}); name another file") from error
    print_lines(Console(), f"{target}: for {NAME_KINDS[_KINDS[kind]].option}")
