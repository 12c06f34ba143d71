"""Creates and saves matplotlib figures; matplotlib is optional and no window is opened."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from housewise.core.errors import UserError
from housewise.core.files import write_bytes
from housewise.core.printable_text import excerpt

INSTALL = "pip install 'housewise[plots]'"


def new_figure(width: float, height: float) -> Any:
    """Return an empty matplotlib figure with constrained layout.

    Args:
        width: Width in inches.
        height: Height in inches.

    Raises:
        UserError: If matplotlib is not installed or cannot be imported.
    """
    try:
        return _figure_class()(figsize=(width, height), layout="constrained")
    except ModuleNotFoundError as error:
        raise UserError(f"pictures: {error.name} is not installed; run {INSTALL}") from None
    except Exception as error:
        raise UserError(f"pictures: matplotlib cannot be used ({_describe(error)}); run {INSTALL}") from error


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure to a file; the suffix gives the format, PNG by default.

    Raises:
        UserError: If matplotlib cannot draw the figure or the disk refuses the file.
    """
    stream = io.BytesIO()
    try:
        figure.savefig(stream, format=path.suffix[1:] or "png", dpi=150)
    except Exception as error:  # fonts, the user's matplotlibrc, an unknown suffix
        raise UserError(f"{path}: matplotlib cannot draw it ({_describe(error)})") from error
    write_bytes(path, stream.getvalue())


def _figure_class() -> Any:
    """Import matplotlib without the backend in ``MPLBACKEND``, which may belong to a notebook and is not needed."""
    backend = None if "matplotlib" in sys.modules else os.environ.pop("MPLBACKEND", None)
    try:
        import matplotlib
        from matplotlib.figure import Figure

        if backend is not None:
            # A program that uses pyplot afterwards finds the backend that it asked for.
            with suppress(ValueError):
                matplotlib.rcParams["backend"] = backend
    finally:
        if backend is not None:
            os.environ["MPLBACKEND"] = backend
    return Figure


def _describe(error: Exception) -> str:
    return excerpt(f"{type(error).__name__}: {error}")
