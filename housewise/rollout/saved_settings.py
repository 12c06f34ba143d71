"""Settings and user files that a run keeps in its folder, and their comparison with those of a resumed run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from housewise.core.errors import UserError
from housewise.core.files import read_bytes, write_bytes, write_json
from housewise.core.setting_keys import short_key
from housewise.core.settings import empty_mappings, merge_nested, nested_differences, record_user_keys
from housewise.core.settings_loading import (
    drop_unknown_keys,
    place_in_sections,
    validate_settings,
)
from housewise.core.text_files import read_json
from housewise.core.user_code import UntrustedCodeError, referenced_file
from housewise.core.user_folders import expand_user
from housewise.language.adapters import NONE
from housewise.language.local.digests import weights_digest
from housewise.rollout.models import model_settings
from housewise.rollout.record_reader import FIRST_SYSTEM
from housewise.rollout.settings import RunSettings
from housewise.rollout.system import System, find_system

_WEIGHTS = "weights.json"


def read_run_settings(path: Path, trust_code: bool = False) -> RunSettings:
    """Return the settings of a run from its `config.json`, of any version.

    Args:
        path: Path of the file.
        trust_code: Whether the settings may name code that is run when the system is opened.

    Raises:
        UserError: The file holds no settings of a run, or its system is not installed.
    """
    try:
        content = read_json(path)
        name = content.get("system", FIRST_SYSTEM) if isinstance(content, dict) else None
        if not isinstance(name, str):
            raise ValueError
    except (UserError, ValueError) as error:
        raise UserError(f"{path}: not the settings of a run; choose another folder with --out") from error
    return parse_saved_settings(name, content, str(path), trust_code=trust_code)


def parse_saved_settings(
    system: str,
    content: Mapping[str, Any],
    source: str,
    strict: bool = True,
    trust_code: bool = False,
    changes: Mapping[str, Any] | None = None,
) -> RunSettings:
    """Validate saved settings of any version.

    Missing values get the default that they had before adapters were bundled.

    Args:
        system: Name of the system.
        content: Values by key.
        source: Where the settings were saved, for error messages.
        strict: Whether an unknown key is an error. Unknown keys are ignored otherwise.
        trust_code: Whether the settings may name code that is run when the system is opened.
        changes: Values by key that replace saved ones.

    Raises:
        UserError: The settings are invalid, or the system is not installed.
    """
    found = find_system(system)
    try:
        base = _defaults(found)
        keys = empty_mappings(found.Settings, base)
        known = content if strict else drop_unknown_keys(content, keys)
        whole = merge_nested(base, place_in_sections(known, keys, source, base))
        whole = merge_nested(whole, place_in_sections(changes or {}, keys, source, whole))
        made = validate_settings(found.Settings, whole | {"system": system}, trust_code)
        # Saved settings do not say who set a value. Values other than the default count as set by the user.
        record_user_keys(made, nested_differences(whole, base))
        return made
    except UntrustedCodeError as error:
        raise UntrustedCodeError(f"{source}: {error}") from error
    except UserError as error:
        told = str(error).removeprefix(f"{source}: ")
        raise UserError(
            f"{source}: not the settings of a run of {system} ({told}); choose another folder with --out"
        ) from error


@lru_cache
def _defaults(system: type[System[Any]]) -> dict[str, Any]:
    """Return the defaults of a system without the bundled adapter. Callers must not modify them."""
    without_adapter = {"models": {"agent": {"adapter": None}}}
    values: dict[str, Any] = system.load(settings=without_adapter).model_dump(mode="json")
    return values


def adapter_option(settings: RunSettings) -> str:
    """Return the command-line option that selects the adapter of a run, on which other settings depend."""
    return f" (--adapter {shlex.quote(settings.models.agent.adapter or NONE)})"


def find_changed_settings(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the names of the settings that differ between two identities, without their sections."""
    return [short_key(key) for key in {**earlier, **now} if not is_same_setting(earlier.get(key), now.get(key))]


def is_same_setting(earlier: Any, now: Any) -> bool:
    """Return whether two values are equal, or name the same model or code at two paths."""
    if earlier == now:
        return True
    if isinstance(earlier, list | tuple) and isinstance(now, list | tuple) and len(earlier) == len(now):
        return all(map(is_same_setting, earlier, now))
    if not isinstance(earlier, str) or not isinstance(now, str):
        return False
    if (code := referenced_file(now)) is not None:
        # `check_user_files` compares the content of the file.
        there = referenced_file(earlier)
        return there is not None and there.name == code.name and earlier.rpartition(":")[2] == now.rpartition(":")[2]
    before, after = (Path(name.removeprefix("local:")) for name in (earlier, now))
    if not after.is_dir():
        return False
    if before.is_dir() and before.samefile(after):
        return True
    alike = len(after.parts) > 1 and before.parts[-2:] == after.parts[-2:]
    return alike and (not before.exists() or _same_weights(before, after))


def _same_weights(one: Path, other: Path) -> bool:
    """Return whether two folders hold the same weights, as a model and its copy do."""
    digest = weights_digest(one)
    return digest is not None and digest == weights_digest(other)


def save_weights_digests(system: System[Any], folder: Path) -> None:
    """Write digests of the weights in the folders that a system's models name to the folder of a run.

    Raises:
        UserError: The file cannot be written.
    """
    if digests := {key: digest for key, name in _model_folders(system) if (digest := weights_digest(name))}:
        write_json(folder / _WEIGHTS, digests)


def check_weights_digests(system: System[Any], folder: Path) -> None:
    """Compare the weights that a system's models name with the digests that `save_weights_digests` wrote.

    Raises:
        UserError: The weights differ.
    """
    path = folder / _WEIGHTS
    if not path.is_file():
        return
    if not isinstance(digests := read_json(path), dict):
        raise UserError(f"{path}: holds no digests; delete it")
    for key, name in _model_folders(system):
        if digests.get(key, now := weights_digest(name)) != now:
            raise UserError(
                f"{name}: holds other weights than those with which {folder} was begun; choose another folder with "
                "--out, or restore them"
            )


def _model_folders(system: System[Any]) -> Iterator[tuple[str, str]]:
    """Yield setting and name of each model and adapter that is in a folder of the user."""
    for role, chosen in model_settings(system).items():
        kind, _, model = chosen.model.partition(":")
        for key, name in (("model", model if kind == "local" else None), ("adapter", chosen.adapter)):
            if name and expand_user(name).is_dir():
                yield f"models.{role}.{key}", name


def copy_user_files(files: Mapping[str, Path], folder: Path, anew: bool = False) -> None:
    """Copy the user's files that a run depends on into its folder.

    Args:
        files: Paths by setting.
        folder: Folder for the copies.
        anew: Whether existing copies are replaced.

    Raises:
        UserError: A file cannot be written.
    """
    for setting, path in files.items():
        copy = folder / f"{setting}{path.suffix}"
        if anew or not copy.exists():
            write_bytes(copy, path.read_bytes())


def check_user_files(files: Mapping[str, Path], folder: Path) -> None:
    """Compare the user's files with the copies that `copy_user_files` made.

    Raises:
        UserError: A file has changed since.
    """
    for setting, path in files.items():
        copy = folder / f"{setting}{path.suffix}"
        if copy.exists() and read_bytes(copy) != read_bytes(path):
            raise UserError(
                f"{path}: has changed since {folder} was begun; choose another folder with --out, or restore it from "
                f"the copy {copy}"
            )
