"""Finds and reads the files of experiments: the bundled ones, and those of users."""

from __future__ import annotations

from pathlib import Path

from housewise.core.errors import UserError, suggest_names
from housewise.core.files import find_paths
from housewise.core.validation import read_model
from housewise.experiments.experiment_file import Experiment

FOLDER = Path(__file__).parent
"""Folder with the bundled experiments, by system, and those of ``bench``."""


def bundled_experiments() -> dict[str, Path]:
    """Return the files of the bundled experiments by name, such as ``personalize/new_houses``."""
    return {path.relative_to(FOLDER).with_suffix("").as_posix(): path for path in find_paths(FOLDER, "*/*.yaml")}


def find_experiment(name: str) -> tuple[str, Path]:
    """Return the name and the file of an experiment.

    Args:
        name: Path of a file, or the name of a bundled experiment, with or without its folder.

    Raises:
        UserError: There is none of that name, or several.
    """
    if Path(name).suffix in (".yaml", ".yml") or Path(name).is_file():
        return Path(name).stem, Path(name)
    bundled = bundled_experiments()
    found = [known for known in bundled if name in (known, known.rpartition("/")[2])]
    if len(found) == 1:
        return found[0], bundled[found[0]]
    if found:
        raise UserError(f"experiment {name}: write {' or '.join(found)}")
    raise UserError(f"no experiment {name!r}; {suggest_names(name, list(bundled))}")


def load_experiment(path: Path) -> Experiment:
    """Read an experiment file.

    Raises:
        UserError: The file is not an experiment; the message names the field.
    """
    return read_model(path, Experiment, what="an experiment")
