"""Finds and reads the files of experiments: the bundled ones, and those of users."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from housewise.core.errors import DataError, UserError, suggest_names
from housewise.core.files import find_paths
from housewise.core.validation import convert_validation_errors
from housewise.core.yaml_files import read_yaml
from housewise.experiments.experiment_file import Experiment

EXTENDS = "extends"
"""Key of an experiment file that names the experiment it starts from."""
FOLDER = Path(__file__).parent
"""Folder with the bundled experiments, by system, and those of ``bench``."""
_SUFFIXES = (".yaml", ".yml")


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
    if Path(name).suffix in _SUFFIXES or Path(name).is_file():
        return Path(name).stem, Path(name)
    bundled = bundled_experiments()
    found = [known for known in bundled if name in (known, known.rpartition("/")[2])]
    if len(found) == 1:
        return found[0], bundled[found[0]]
    if found:
        raise UserError(f"experiment {name}: write {' or '.join(found)}")
    raise UserError(f"no experiment {name!r}; {suggest_names(name, list(bundled))}")


def load_experiment(path: Path) -> Experiment:
    """Read an experiment file, with what it takes over from the experiment that it extends.

    Raises:
        UserError: The file is not an experiment; the message names the field.
    """
    return _read_extended(path, ())[0]


def _read_extended(path: Path, extending: tuple[Path, ...]) -> tuple[Experiment, Any]:
    """Return an experiment, and the content of its file merged into that of the file that it extends.

    Args:
        path: The file.
        extending: The files that extend it.

    Raises:
        UserError: See load_experiment. Files that extend each other, or an experiment of another system, are refused.
    """
    content = read_yaml(path)
    if isinstance(content, Mapping) and EXTENDS in content:
        name, where = content[EXTENDS], f"{path}: field {EXTENDS}"
        changes = {key: value for key, value in content.items() if key != EXTENDS}
        files = (*extending, path.resolve())
        extended = _find_extended(path, name)
        if extended.resolve() in files:
            raise DataError(f"{where}: {name} extends this experiment in turn; extend another one")
        base, base_content = _read_extended(extended, files)
        if changes.get("system", base.system) != base.system:
            raise DataError(
                f"{where}: {name} is an experiment of {base.system}, and this one of {changes['system']}; extend one "
                "of the same system"
            )
        content = _merge(base_content, changes)
    with convert_validation_errors(path, what="an experiment", model=Experiment):
        return Experiment.model_validate(content), content


def _find_extended(path: Path, name: Any) -> Path:
    """Return the file that a file extends: that of a bundled experiment, or one relative to the extending file."""
    where = f"{path}: field {EXTENDS}"
    if not isinstance(name, str):
        raise DataError(f"{where}: expected the name of an experiment, or the path of a file")
    if Path(name).suffix in _SUFFIXES:
        found = path.parent / name
        if not found.is_file():
            raise DataError(f"{where}: no file {found}; correct it")
        return found
    try:
        return find_experiment(name)[1]
    except UserError as error:
        raise DataError(f"{where}: {error}") from error


def _merge(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested values with changes: mappings are merged, None removes a key of the base, all else replaces it."""
    merged = dict(base)
    for key, value in changes.items():
        if value is None and key in base:
            del merged[key]
        elif isinstance(value, Mapping) and isinstance(base.get(key), Mapping):
            merged[key] = _merge(base[key], value)
        else:
            merged[key] = value
    return merged
