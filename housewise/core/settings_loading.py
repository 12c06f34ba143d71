"""Merges settings: bundled defaults, the user's file, and the command line, in this order.

Settings are grouped in sections. A key that occurs in one section only may be written without it: ``seed=3`` means
``tasks.seed=3``.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import BaseModel, ValidationError

from housewise.core.configs import CONFIGS
from housewise.core.errors import UserError, suggest_names
from housewise.core.files import find_paths
from housewise.core.literals import DEEPEST, Literals
from housewise.core.redaction import redact_passwords
from housewise.core.setting_keys import expand_references, find_setting_path, setting_at, short_key
from housewise.core.setting_migrations import migrate_settings
from housewise.core.settings import (
    merge_nested,
    nest_value,
    record_dotted_keys,
    record_user_keys,
    setting_paths,
)
from housewise.core.text_files import read_text
from housewise.core.yaml_files import check_yaml, convert_yaml_errors

_LONGEST_VALUE = 200

_Model = TypeVar("_Model", bound=BaseModel)


def load_with_derived_defaults(
    model: type[_Model],
    base: DictConfig,
    advice: Callable[[_Model], Mapping[str, Any]],
    file: Path | None = None,
    settings: Mapping[str, Any] | None = None,
    overrides: Sequence[str] = (),
) -> _Model:
    """Merge settings whose defaults depend on some of them; see ``load_settings``.

    Args:
        model, base, file, settings, overrides: See ``load_settings``.
        advice: Function that returns defaults by key for given settings.
    """
    config = load_settings(model, base, file, settings, overrides)
    defaults = advice(config)
    return load_settings(model, base, file, settings, overrides, defaults) if defaults else config


def load_settings(
    model: type[_Model],
    base: DictConfig,
    file: Path | None = None,
    settings: Mapping[str, Any] | None = None,
    overrides: Sequence[str] = (),
    advised: Mapping[str, Any] | None = None,
) -> _Model:
    """Merge settings; later sources win.

    ``${...}`` is interpolated only in the file and the overrides, which the user wrote. Values by key may come from a
    record or an adapter of somebody else.

    Args:
        model: Class of the settings.
        base: Defaults, with every existing key.
        file: YAML file with some of the keys, or the name of one of ``packaged_configs()``.
        settings: Values by key, from command-line options or records.
        overrides: Texts ``key=value``, with dots for nested keys.
        advised: Values by key that replace defaults.

    Raises:
        UserError: For an unknown key or an invalid value; the message names it and what would be valid.
    """
    literals = Literals()
    known: Any = OmegaConf.to_container(base)
    given, user_values = _read_config(find_config(file)) if file else OmegaConf.create(), _parse_overrides(overrides)
    try:
        parts: list[Any] = [base]
        current: dict[str, Any] = dict(known)
        by_user: dict[str, Any] = {}
        for part, source, is_users in (
            (literals.hide(dict(advised or {})), "the defaults", False),
            (given, str(file), file is not None and CONFIGS not in find_config(file).resolve().parents),
            (literals.hide(dict(settings or {})), "the command line", True),
            (user_values, "the command line", True),
        ):
            content = place_in_sections(
                OmegaConf.to_container(part) if isinstance(part, DictConfig) else part, known, source, current
            )
            current = merge_nested(current, content)
            parts.append(OmegaConf.create(expand_references(content, known)))
            by_user = merge_nested(by_user, content) if is_users else by_user
        whole = literals.restore(OmegaConf.to_container(OmegaConf.merge(*parts), resolve=True))
    except OmegaConfBaseException as error:
        raise UserError(f"setting {error.full_key}: {redact_passwords(_first_line(error))}") from error
    except TypeError as error:  # raised by OmegaConf for a list in place of keys, or the other way round
        raise UserError(f"{file}: a setting holds a list or has keys where it should not ({error})") from error
    except RecursionError:
        raise UserError(_too_deep("the settings")) from None
    made = validate_settings(model, whole)
    record_user_keys(made, by_user)
    record_dotted_keys(made)
    return made


def user_values(key: str, file: Path | None = None, overrides: Sequence[str] = ()) -> list[Any]:
    """Return the values that the user wrote for a key outside all sections; the last one wins.

    Args:
        key: Name of the setting.
        file, overrides: See ``load_settings``.

    Raises:
        UserError: If the file or the overrides cannot be read.
    """
    parts = [*([_read_config(find_config(file))] if file else []), _parse_overrides(overrides)]
    try:
        return [found for part in parts if (found := OmegaConf.select(part, key)) is not None]
    except OmegaConfBaseException as error:
        raise UserError(f"setting {key}: {redact_passwords(_first_line(error))}") from error


def validate_settings(model: type[_Model], content: Any, trust_code: bool = True) -> _Model:
    """Validate values by key, every key in its section, as settings.

    Args:
        model: Class of the settings.
        content: Values by key.
        trust_code: Whether the settings may name code; see ``core.user_code.CodeReference``.

    Raises:
        UserError: If a value is invalid; the message names it and what would be valid.
    """
    try:
        return model.model_validate(content, context={"trust_code": trust_code})
    except ValidationError as error:
        first = error.errors()[0]
        field = short_key(".".join(str(part) for part in first["loc"]))
        problem = first["msg"].removeprefix("Value error, ")
        if first["type"] == "literal_error":
            known = suggest_names(str(first["input"]), re.findall(r"'([^']*)'", first["ctx"]["expected"]))
            raise UserError(f"setting {field}: no {_short_repr(first['input'])}; {known}") from error
        if first["type"] == "unknown_name":
            raise UserError(f"setting {field}: {problem}") from error
        raise UserError(f"setting {field}: {problem}, not {_short_repr(first['input'])}") from error


def place_in_sections(
    given: Any, base: Mapping[str, Any], source: str, current: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return values by key with every key in its section and under its current name.

    Args:
        given: Values by key. A key that occurs in one section only may be outside of it.
        base: Defaults, with every existing key.
        source: Where the values are from, for messages.
        current: Values, in their sections, into which the given ones will be merged. Defaults to ``base``.

    Raises:
        UserError: For an unknown key.
    """
    return _place_keys(migrate_settings(given, base, source, current), base, source, "")


def _place_keys(given: Any, base: Mapping[str, Any], source: str, prefix: str) -> dict[str, Any]:
    """Return values by key with every key in its section.

    Args:
        given, base, source: See ``place_in_sections``.
        prefix: Section of the keys, with a dot at its end.
    """
    found: dict[str, Any] = {}
    for key, value in given.items():
        path = key if key in base else find_setting_path(str(key), base, source, prefix, isinstance(value, Mapping))
        known = setting_at(base, path)
        # A setting with an empty mapping as its default accepts any keys.
        if isinstance(known, Mapping) and known:
            if isinstance(value, Mapping):
                value = _place_keys(value, known, source, f"{prefix}{path}.")
            elif not (isinstance(value, str) and "${" in value):
                raise UserError(
                    f"{source}: setting {short_key(prefix + path)!r} has keys of its own: {', '.join(map(str, known))}"
                )
        found = merge_nested(found, nest_value(path, value))
    return found


def drop_unknown_keys(given: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by key without unknown keys and under current names, for settings that another version wrote."""
    names = {path.rpartition(".")[2] for path in setting_paths(base)}
    free = {path.rpartition(".")[2] for path in setting_paths(base) if setting_at(base, path) == {}}

    def drop(values: Mapping[str, Any]) -> dict[str, Any]:
        return {
            key: drop(value) if isinstance(value, Mapping) and key not in free else value
            for key, value in values.items()
            if key in names
        }

    return drop(migrate_settings(given, base, "saved settings"))


def packaged_configs() -> dict[str, Path]:
    """Return the bundled configuration files by name."""
    return {path.stem: path for path in find_paths(CONFIGS, "*.yaml")}


_FORMER_CONFIGS = {"run": "personalize", "selftrain": "selftrain"}
"""Names in ``housewise settings`` by former bundled files, which held all defaults."""


def find_config(name_or_path: Path) -> Path:
    """Return a configuration file: the path if there is such a file, else the bundled file of that name.

    Raises:
        UserError: If there is neither; the message lists the bundled ones.
    """
    with contextlib.suppress(OSError):
        if name_or_path.exists() and not name_or_path.is_dir():
            return name_or_path
    known, name = packaged_configs(), str(name_or_path).removesuffix(".yaml")
    if name in _FORMER_CONFIGS:
        raise UserError(
            f"{name_or_path}: is no longer a bundled file; `housewise settings {_FORMER_CONFIGS[name]} --yaml` prints "
            "all settings as such a file"
        )
    if name not in known:
        raise UserError(
            f"{name_or_path}: no such configuration file, and none of that name; {suggest_names(name, known)}"
        )
    return known[name]


def _read_config(path: Path) -> DictConfig:
    text = read_text(path, "name a configuration file")
    with convert_yaml_errors(str(path), "write it as in housekeep_configs/"):
        check_yaml(text)
        try:
            loaded = OmegaConf.create(text)
        except AssertionError:  # raised by OmegaConf for a text without keys
            loaded = None
    if not isinstance(loaded, DictConfig):
        raise UserError(f"{path}: has to hold keys and values")
    return loaded


def _parse_overrides(overrides: Sequence[str]) -> DictConfig:
    for text in overrides:
        if "=" not in text:
            raise UserError(f"{_short_repr(text)}: write settings as key=value, for example houses=5")
    try:
        return OmegaConf.from_dotlist(list(overrides))
    except RecursionError:
        raise UserError(_too_deep("the command line")) from None
    except Exception as error:  # YAML's many errors; see yaml_errors
        given = redact_passwords(" ".join(" ".join(overrides).split()))
        raise UserError(f"{given}: {redact_passwords(_first_line(error))}") from error


def _too_deep(source: str) -> str:
    return f"{source}: settings are nested more than {DEEPEST} levels deep; write them as in housekeep_configs/"


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def _short_repr(value: object) -> str:
    """Return a value for a message: cut if it is long, and without passwords."""
    try:
        text = redact_passwords(repr(value))
    except (RecursionError, ValueError):  # a number of more digits than Python writes
        return f"this {type(value).__name__}"
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."
