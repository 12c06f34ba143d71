"""Merges settings: bundled defaults, the user's file, and the command line, in this order.

Settings are grouped in sections. A key that occurs in one section only may be written without it: ``seed=3`` means
``tasks.seed=3``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import BaseModel, ValidationError
from typing_extensions import Self

from housewise.core.configs import CONFIGS, find_config, system_of_config
from housewise.core.errors import UserError, suggest_names
from housewise.core.literals import DEEPEST, Literals
from housewise.core.migrations.settings import migrate_settings
from housewise.core.redaction import redact_passwords
from housewise.core.setting_keys import expand_references, find_setting_path, has_references, setting_at, short_key
from housewise.core.settings import (
    Settings,
    empty_mappings,
    merge_nested,
    nest_value,
    record_dotted_keys,
    record_user_keys,
    setting_paths,
)
from housewise.core.text_files import read_text
from housewise.core.validation import plain_problem
from housewise.core.yaml_files import check_yaml, convert_yaml_errors

_LONGEST_VALUE = 200
_RUN = "run"
"""Section of a training with the settings of its runs."""

_Model = TypeVar("_Model", bound=BaseModel)


def plain_defaults(base: DictConfig | Mapping[str, Any]) -> dict[str, Any]:
    """Return defaults as plain values. Those of a plugin may be a configuration of OmegaConf."""
    found: Any = OmegaConf.to_container(base) if isinstance(base, DictConfig) else dict(base)
    return found  # type: ignore[no-any-return]


def load_with_derived_defaults(
    model: type[_Model],
    base: DictConfig | Mapping[str, Any],
    advice: Callable[[_Model], Mapping[str, Any]],
    file: Path | None = None,
    settings: Mapping[str, Any] | None = None,
    overrides: Sequence[str] = (),
) -> _Model:
    """Merge settings as ``load_settings`` does, with defaults that ``advice`` returns by key for the given settings."""
    config = load_settings(model, base, file, settings, overrides)
    defaults = advice(config)
    return load_settings(model, base, file, settings, overrides, defaults) if defaults else config


def load_settings(
    model: type[_Model],
    base: DictConfig | Mapping[str, Any],
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
        file: YAML file with some of the keys, or the name of a bundled one; see ``core.configs.find_config``. Of a
            recipe of training a run takes the section ``run``, and a training takes settings of a run as that section.
        settings: Values by key, from command-line options or records.
        overrides: Texts ``key=value``, with dots for nested keys.
        advised: Values by key that replace defaults.

    Raises:
        UserError: For an unknown key or an invalid value; the message names it and what would be valid.
    """
    literals = Literals()
    defaults = plain_defaults(base)
    known = empty_mappings(model, defaults)
    path = find_config(file, _system_of(known)) if file else None
    given = OmegaConf.create() if path is None else _own_part(_read_config(path), known)[0]
    user_values = _parse_overrides(overrides)
    try:
        current: Any = defaults
        by_user: dict[str, Any] = {}
        for part, source, is_users in (
            (literals.hide(dict(advised or {})), "the defaults", False),
            (given, str(file), path is not None and CONFIGS not in path.resolve().parents),
            (literals.hide(dict(settings or {})), "settings", True),
            (user_values, "the command line", True),
        ):
            content = place_in_sections(
                OmegaConf.to_container(part) if isinstance(part, DictConfig) else part, known, source, current
            )
            _check_containers(current, content)
            current = merge_nested(current, content)
            by_user = merge_nested(by_user, content) if is_users else by_user
        # OmegaConf takes most of the time.
        if has_references(current):
            current = OmegaConf.to_container(OmegaConf.create(expand_references(current, known)), resolve=True)
        whole = literals.restore(current)
    except OmegaConfBaseException as error:
        raise UserError(f"setting {error.full_key}: {redact_passwords(_first_line(error))}") from error
    except RecursionError:
        raise UserError(_too_deep("the settings")) from None
    made = validate_settings(model, whole)
    record_user_keys(made, by_user)
    record_dotted_keys(made)
    return made


class LoadableSettings(Settings):
    """Settings whose defaults are those of their class."""

    @classmethod
    def load(
        cls, file: Path | None = None, settings: Mapping[str, Any] | None = None, overrides: Sequence[str] = ()
    ) -> Self:
        """Load settings; see ``load_settings``."""
        return load_settings(cls, cls.defaults(), file, settings, overrides)

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return every setting with its default."""
        return cls().model_dump(mode="json")


def configured_systems(file: Path | None, overrides: Sequence[str], default: str) -> list[str]:
    """Return the names of systems in a file and in overrides, and that of a bundled file's folder; the last one wins.

    Args:
        file: See ``load_settings``.
        overrides: See ``load_settings``.
        default: System whose bundled configurations ``file`` may name.

    Raises:
        UserError: If the file or the overrides cannot be read.
    """
    path = find_config(file, default) if file else None
    given = OmegaConf.create() if path is None else _read_config(path)
    try:
        parts = [given.get(_RUN), given, _parse_overrides(overrides)]
        found = [each.get("system") for each in parts if isinstance(each, DictConfig)]
        found = [None if path is None else system_of_config(path), *found]
        return [str(name) for name in found if name is not None]
    except OmegaConfBaseException as error:
        raise UserError(f"setting system: {redact_passwords(_first_line(error))}") from error


def describe_own_part(file: Path | None, base: DictConfig | Mapping[str, Any]) -> str:
    """Return which part of a file is used, in a sentence; empty if it is the whole file.

    Args:
        file: See ``load_settings``.
        base: Defaults, with every existing key.
    """
    known = plain_defaults(base)
    return "" if file is None else _own_part(_read_config(find_config(file, _system_of(known))), known)[1].format(file)


def sets_key(file: Path, base: DictConfig | Mapping[str, Any], path: str) -> bool:
    """Return whether a file sets a setting, also to its default.

    Args:
        file: See ``load_settings``.
        base: Defaults, with every existing key.
        path: Dotted key of the setting.
    """
    known = plain_defaults(base)
    given = _own_part(_read_config(find_config(file, _system_of(known))), known)[0]
    return path in setting_paths(place_in_sections(OmegaConf.to_container(given), known, str(file)))


def _check_containers(values: Mapping[str, Any], others: Mapping[str, Any], prefix: str = "") -> None:
    """Check that no setting is a list in one of two nested values, and has keys in the other.

    Raises:
        UserError: One is; the message names it.
    """
    for key, other in others.items():
        value = values.get(key)
        if isinstance(value, Mapping) and isinstance(other, Mapping):
            _check_containers(value, other, f"{prefix}{key}.")
        elif isinstance(value, Mapping | list) and isinstance(other, Mapping | list) and type(value) is not type(other):
            raise UserError(f"setting {prefix}{key}: is given as a list and with keys; give it once")


def _own_part(given: DictConfig, known: Mapping[str, Any]) -> tuple[DictConfig, str]:
    """Return the part of a file that concerns these settings, and a template of ``describe_own_part``.

    Args:
        given: Content of the file.
        known: Defaults, with every existing key.
    """
    if _RUN not in known and (_RUN in given or "training" in given):
        system = {key: given[key] for key in ("system",) if key in given}
        if not isinstance(part := given.get(_RUN, {}), DictConfig | dict):
            raise UserError(f"setting {_RUN}: has keys of its own, those of a run, in a recipe of training")
        own = OmegaConf.merge(system, part)
        assert isinstance(own, DictConfig)
        return own, "{} holds a recipe of training; its section run is played"
    if _RUN in known and given and not any(key in known for key in given if key != "system"):
        try:
            place_in_sections(OmegaConf.to_container(given), known[_RUN], "")
        except UserError:
            return given, ""
        return OmegaConf.create(
            {_RUN: given}
        ), "{} holds settings of a run; they become the section run of the training"
    return given, ""


def _system_of(known: Mapping[str, Any]) -> str | None:
    """Return the name of the system whose settings have these defaults."""
    found: str | None = known.get("system") or known.get(_RUN, {}).get("system")
    return found


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
        problem = plain_problem(first)
        if first["type"] == "literal_error":
            known = suggest_names(str(first["input"]), re.findall(r"'([^']*)'", first["ctx"]["expected"]))
            raise UserError(f"setting {field}: no {_short_repr(first['input'])}; {known}") from error
        if first["type"] in ("unknown_name", "wrapper_order"):
            raise UserError(f"setting {field}: {problem}") from error
        # What is wrong about a section as a whole names its keys itself.
        is_of_section = first["type"] == "value_error" and isinstance(first["input"], Mapping)
        given = "" if is_of_section else f", not {_short_repr(first['input'])}"
        raise UserError(f"setting {field}: {problem}{given}" if field else f"setting {problem}") from error


def place_in_sections(
    given: Any, base: Mapping[str, Any], source: str, current: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return values by key with every key in its section and under its current name.

    Args:
        given: Values by key. A key that occurs in one section only may be outside of it.
        base: Defaults, with every existing key; see ``empty_mappings``.
        source: Where the values are from, for messages.
        current: Values, in their sections, into which the given ones will be merged. Defaults to ``base``.

    Raises:
        UserError: For an unknown key.
    """
    return _place_keys(migrate_settings(given, base, source, current), base, source, "")


def _place_keys(given: Any, base: Mapping[str, Any], source: str, prefix: str) -> dict[str, Any]:
    """Return values by key with every key in its section; ``prefix`` is the section of all, with a dot at its end."""
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
        elif isinstance(known, Mapping | list) and isinstance(value, Mapping | list) and type(known) is not type(value):
            wanted = "a list" if isinstance(known, list) else "keys and values"
            raise UserError(f"{source}: setting {short_key(prefix + path)!r} holds {wanted}, not {_short_repr(value)}")
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


def _read_config(path: Path) -> DictConfig:
    text = read_text(path, "name a configuration file")
    with convert_yaml_errors(str(path), "write it as in housekeep_configs/"):
        loaded = _parse_config(text)
    # Of a text without a colon OmegaConf makes a key without a value.
    if not isinstance(loaded, DictConfig) or list(loaded) == [text.strip()]:
        raise UserError(f"{path}: has to hold keys and values")
    return loaded


# An experiment reads the same file for each of its runs. Nobody changes what is returned.
@lru_cache(maxsize=16)
def _parse_config(text: str) -> Any:
    check_yaml(text)
    try:
        return OmegaConf.create(text)
    except AssertionError:  # raised by OmegaConf for a text without keys
        return None


def _parse_overrides(overrides: Sequence[str]) -> DictConfig:
    for text in overrides:
        if "=" not in text:
            raise UserError(f"{_short_repr(text)}: write settings as key=value without spaces, for example houses=5")
    try:
        return OmegaConf.from_dotlist(list(overrides))
    except RecursionError:
        raise UserError(_too_deep("the command line")) from None
    except Exception as error:  # YAML's many errors; see convert_yaml_errors
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
