"""Folders of the user's own, where there may be no home folder, as for a container's user without a name."""

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
        UserError: when there is no such home folder.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise UserError(f"{path}: there is no such home folder; set HOME, or {remedy}") from None


def provide_cache_folders() -> None:
    """Without a home folder, have libraries keep their caches and settings in a temporary one, and know a user's name.

    They would end in a traceback (matplotlib, getpass) or make a folder of the name ``~`` (Hugging Face) otherwise.
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
