"""Reads the pickled arrays of the Housekeep data without letting a file run code."""

from __future__ import annotations

import io
import pickle
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from household.errors import DataError

_ALLOWED = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "scalar"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
}


class UnsafePickleError(DataError):
    """The file asks for something that only a program would need."""


class _NumpyUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise UnsafePickleError(f"it names {module}.{name}, which is neither a number, a text nor an array")
        return getattr(np, name) if module == "numpy" else getattr(_multiarray(), name)


def _multiarray() -> Any:
    """numpy's module of array builders, under its name before or after numpy 2."""
    return import_module(
        "numpy._core.multiarray" if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else "numpy.core.multiarray"
    )


def load_object(path: Path) -> Any:
    """The Python object inside a ``.npy`` file that holds one.

    Only arrays, numbers, texts and containers of them are admitted; nothing in the file is executed.

    Raises:
        UnsafePickleError: when the file names any other type.
        DataError: when it is damaged or no such file; the message names it.
    """
    try:
        stream = io.BytesIO(path.read_bytes())
        version = np.lib.format.read_magic(stream)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        header(stream)
        return _NumpyUnpickler(stream, encoding="latin1").load().item()
    except UnsafePickleError as error:
        raise UnsafePickleError(
            f"{path}: refused, {error}; fetch the file again from the Housekeep repository"
        ) from error
    except Exception as error:  # a damaged header or pickle raises whatever it comes across
        told = " ".join(str(error).split())
        raise DataError(f"{path}: not a readable data file ({told}); fetch it again") from error
