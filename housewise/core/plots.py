"""Pictures with axes, where matplotlib is there to draw them; no backend of an environment or a window is needed."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from housewise.core.errors import UserError, excerpt
from housewise.core.files import write_bytes

INSTALL = "pip install 'housewise[plots]'"


def new_figure(width: float, height: float) -> Any:
    """An empty figure of matplotlib's, which makes room for all that is written on it.

    Args:
        width, height: inches.

    Raises:
        UserError: when matplotlib is not installed, or cannot be imported.
    """
    try:
        return _figure_class()(figsize=(width, height), layout="constrained")
    except ModuleNotFoundError as error:
        raise UserError(f"pictures: {error.name} is not installed; run {INSTALL}") from None
    except Exception as error:
        raise UserError(f"pictures: matplotlib cannot be used ({_describe(error)}); run {INSTALL}") from error


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure to a file whose ending says which kind of picture it is, PNG without one.

    Raises:
        UserError: when matplotlib cannot draw it, or the disk does not take it.
    """
    stream = io.BytesIO()
    try:
        figure.savefig(stream, format=path.suffix[1:] or "png", dpi=150)
    except Exception as error:  # of fonts, of a user's matplotlibrc, of an ending that matplotlib does not know
        raise UserError(f"{path}: matplotlib cannot draw it ({_describe(error)})") from error
    write_bytes(path, stream.getvalue())


def _figure_class() -> Any:
    """Import matplotlib without the backend that MPLBACKEND names, which may be a notebook's and is not used here."""
    backend = None if "matplotlib" in sys.modules else os.environ.pop("MPLBACKEND", None)
    try:
        import matplotlib
        from matplotlib.figure import Figure

        if backend is not None:
            # A program that goes on with pyplot finds its backend as if it had imported matplotlib itself.
            with suppress(ValueError):
                matplotlib.rcParams["backend"] = backend
    finally:
        if backend is not None:
            os.environ["MPLBACKEND"] = backend
    return Figure


def _describe(error: Exception) -> str:
    return excerpt(f"{type(error).__name__}: {error}")
