"""Finds the user's folders, also if there is no home folder, as for an unnamed user of a container."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from housewise.core.errors import UserError


def expand_user(path: str | Path, remedy: str = "write the whole path") -> Path:
    """Expand a ``~`` at the beginning of a path.

    Raises:
        UserError: If there is no such home folder.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise UserError(f"{path}: there is no such home folder; set HOME, or {remedy}") from None


def provide_cache_folders() -> None:
    """Without a home folder, let libraries use temporary folders for caches and settings, and set a user name.

    Otherwise matplotlib and getpass would fail, and Hugging Face would create a folder named ``~``.
    """
    try:
        Path.home()
    except RuntimeError:
        os.environ.setdefault("USER", "nobody")
        missing = [name for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME") if not os.environ.get(name)]
        if missing:
            folder = tempfile.mkdtemp(prefix="housewise-")
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            os.environ.update(dict.fromkeys(missing, folder))
