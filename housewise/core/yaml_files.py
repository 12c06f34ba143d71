"""Reads YAML files as plain values; an error is one line that names the file.

libyaml is used if PyYAML was built with it; it is ten times as fast.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from housewise.core.errors import DataError
from housewise.core.printable_text import excerpt
from housewise.core.text_files import LONGEST_NUMBER, read_text

DEEPEST = 50
"""Maximum nesting depth of values."""
MAX_REPEATED = 100_000
"""Maximum number of values that YAML aliases (``*name``) may stand for in total."""

SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_MERGE = "tag:yaml.org,2002:merge"
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")


def read_yaml(path: Path, remedy: str = "correct it", loader: Any = SafeLoader) -> Any:
    """Read a YAML file; see ``read_text`` and ``parse_yaml``.

    To validate the content with a pydantic class, use ``core.validation.read_model``.

    Raises:
        DataError: If the file cannot be read or is not YAML.
    """
    return parse_yaml(read_text(path, remedy), str(path), remedy, loader)


def parse_yaml(text: str, source: str, remedy: str = "correct it", loader: Any = SafeLoader) -> Any:
    """Parse YAML into plain values, without objects of a program.

    Args:
        text: YAML text.
        source: Where the text is from, for the message.
        remedy: What to do about an error, for the message.
        loader: A safe loader of PyYAML.

    Raises:
        DataError: If the text is not YAML, has an unknown or unsuitable tag, or its values are too many, too large or
            nested too deeply.
    """
    with convert_yaml_errors(source, remedy):
        reader = loader(text)
        try:
            root = reader.get_single_node()
            return None if root is None else reader.construct_document(_check_size(root))
        finally:
            reader.dispose()


@contextmanager
def convert_yaml_errors(source: str, remedy: str) -> Iterator[None]:
    """Convert any error raised while reading YAML into a ``DataError`` of one line.

    PyYAML also raises the errors of the functions that construct values, such as KeyError for ``!!bool abc``,
    AttributeError for ``!!timestamp abc`` and OverflowError for sexagesimal numbers.

    Raises:
        DataError: For any error.
    """
    try:
        yield
    except Exception as error:
        raise DataError(f"{source}: not readable as YAML ({_yaml_problem(error)}); {remedy}") from error


def check_yaml(text: str) -> None:
    """Check that a text is YAML whose values are few, small and flat enough; aliases count as what they stand for.

    Raises:
        yaml.YAMLError: If the text is not YAML.
        ValueError: If it is too large.
        RecursionError: If it is nested too deeply for the parser.
    """
    root = yaml.compose(text, Loader=SafeLoader)
    if root is not None:
        _check_size(root)


def _check_size(root: yaml.Node) -> yaml.Node:
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()

    def size(node: yaml.Node, depth: int) -> int:
        if id(node) in sizes:
            return sizes[id(node)]
        if depth > DEEPEST or id(node) in open_nodes:
            raise ValueError(f"values refer to themselves, or are nested more than {DEEPEST} levels deep")
        open_nodes.add(id(node))
        total = 1
        if isinstance(node, yaml.ScalarNode):
            _check_scalar(node)
        elif isinstance(node, yaml.MappingNode):
            _check_keys(node)
            total += sum(size(key, depth + 1) + size(value, depth + 1) for key, value in node.value)
        else:
            total += sum(size(each, depth + 1) for each in node.value)
        open_nodes.discard(id(node))
        sizes[id(node)] = total
        return total

    if size(root, 0) - len(sizes) > MAX_REPEATED:
        raise ValueError(f"references stand for more than {MAX_REPEATED} values")
    return root


def _check_keys(node: yaml.MappingNode) -> None:
    seen: set[tuple[str, str]] = set()
    for key, _ in node.value:
        if isinstance(key, yaml.ScalarNode) and key.tag != _MERGE:
            if (key.tag, key.value) in seen:
                raise ValueError(f"{key.value!r} stands twice, again in line {key.start_mark.line + 1}")
            seen.add((key.tag, key.value))


def _check_scalar(node: yaml.ScalarNode) -> None:
    if node.tag in _NUMBERS and len(node.value) > LONGEST_NUMBER:
        raise ValueError(f"a number has {len(node.value)} digits")
    # PyYAML's own loader accepts unpaired surrogates.
    node.value.encode("utf-8")


def _yaml_problem(error: Exception) -> str:
    """Return what is wrong, and the place if it is known, on one line."""
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        return excerpt(f"{error.problem or error.context}{where}")
    if isinstance(error, yaml.YAMLError | ValueError):
        return excerpt(error)
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return f"a value does not fit its tag: {excerpt(repr(error))}"
