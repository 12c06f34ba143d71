"""Short keys of settings: ``seed`` for ``tasks.seed``, and what an unknown key may have meant."""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Mapping
from typing import Any

from housewise.core.errors import UserError
from housewise.core.settings import SECTIONS, map_texts, setting_paths

_LONGEST_LIST = 400
# A model's setting without a role means the model that acts.
_ACTING = "models.agent."
_REFERENCE = re.compile(r"\$\{([a-z][a-z0-9_.]*)\}")


def short_key(key: str) -> str:
    """Return a dotted key without its section, and without the role ``agent`` of a model."""
    run, dot, rest = key.partition(".") if key.startswith("run.") else ("", "", key)
    if rest.startswith(_ACTING):
        rest = rest.removeprefix(_ACTING)
    elif rest.partition(".")[0] in SECTIONS:
        rest = rest.partition(".")[2] or rest
    return f"{run}{dot}{rest}"


def find_setting_path(key: str, base: Mapping[str, Any], source: str, prefix: str, section: bool = False) -> str:
    """Return the dotted path of the only key of that name; a section is meant if the value has keys of its own.

    Raises:
        UserError: The key is unknown, or is in several sections; the message names similar keys or the sections.
    """
    named = [path for path in setting_paths(base) if path.rpartition(".")[2] == key]
    paths = [path for path in named if isinstance(setting_at(base, path), Mapping) == section] or named
    acting = [path for path in paths if path.startswith(_ACTING)]
    # A role may have the name of a setting; a role has keys of its own.
    values = [path for path in paths if not isinstance(setting_at(base, path), Mapping)]
    for meant in (acting, paths, values):
        if len(meant) == 1:
            return meant[0]
    if paths:
        raise UserError(f"{source}: setting {prefix + key!r} is there more than once; write {' or '.join(paths)}")
    names = list(dict.fromkeys(path.rpartition(".")[2] for path in setting_paths(base)))
    close = difflib.get_close_matches(key, names, n=1)
    leaves = [name for name in names if name not in base or not isinstance(base[name], Mapping)]
    listed = textwrap.shorten(", ".join(leaves), _LONGEST_LIST, placeholder=" ...")
    hint = f"did you mean {short_key(prefix + close[0])}?" if close else f"known keys: {listed}"
    raise UserError(f"{source}: unknown setting {short_key(prefix + key)!r}; {hint}")


def expand_references(value: Any, base: Mapping[str, Any]) -> Any:
    """Replace short references such as ``${seed}`` by full ones such as ``${tasks.seed}``."""
    return map_texts(value, lambda text: _REFERENCE.sub(lambda each: f"${{{_full_path(each[1], base)}}}", text))


def has_references(value: Any) -> bool:
    """Return whether texts of a setting are to be interpolated."""
    if isinstance(value, str):
        return "${" in value
    if isinstance(value, Mapping | list):
        return any(map(has_references, value.values() if isinstance(value, Mapping) else value))
    return False


def _full_path(path: str, base: Mapping[str, Any]) -> str:
    """Return the full path of a setting that another one refers to."""
    first, dot, rest = path.partition(".")
    if first in base:
        return path
    paths = [each for each in setting_paths(base) if each.rpartition(".")[2] == first]
    return f"{paths[0]}{dot}{rest}" if len(paths) == 1 else path


def setting_at(base: Mapping[str, Any], path: str) -> Any:
    """Return the value at a dotted path."""
    if path in base:
        return base[path]
    first, _, rest = path.partition(".")
    return setting_at(base[first], rest)
