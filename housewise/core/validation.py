"""Validates files and values with pydantic; an error is one line that names the source, the field and the remedy.

``read_model`` is the way to read a YAML or JSON file as a pydantic class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from housewise.core.errors import DataError, UserError, suggest_names
from housewise.core.printable_text import excerpt
from housewise.core.text_files import read_text

_Model = TypeVar("_Model", bound=BaseModel)

_PROBLEMS = {
    "extra_forbidden": "there is no such field",
    "model_type": "expected fields and their values",  # pydantic's message names a class
    "dict_type": "expected keys and their values",
    "list_type": "expected a list, such as [a, b]",
    "tuple_type": "expected a list, such as [a, b]",
    "string_type": "expected a text",
}
"""Problems by pydantic's type of error, where its own message speaks of Python."""
_YAML_HINTS = {"string_type": "; quote what YAML reads as a number, a date, yes or no"}
"""What to do about problems in YAML."""


class StrictModel(BaseModel):
    """Base of the classes of files and their parts: immutable, and an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def read_model(
    path: Path,
    model: type[_Model],
    remedy: str = "correct it",
    what: str = "",
    error_class: type[UserError] = DataError,
) -> _Model:
    """Read a YAML or JSON file as a pydantic class.

    Args:
        path: File to read. ``.json`` is read as JSON, anything else as YAML.
        model: Class to validate the content with.
        remedy: What to do about an error, for the message.
        what: What the file should be, such as ``"the summary of a run"``, for the message.
        error_class: Class of the error for content that the model refuses.

    Raises:
        DataError: If the file cannot be read.
        UserError: If the content does not fit the model; of ``error_class``.
    """
    with convert_validation_errors(path, remedy, what, error_class, model):
        if path.suffix == ".json":
            return model.model_validate_json(read_text(path, remedy))
        # PyYAML takes a while to import, and commands without YAML files do without it.
        from housewise.core.yaml_files import read_yaml

        return model.model_validate(read_yaml(path, remedy))


def validate_model(model: type[_Model], content: Any, source: object, remedy: str = "correct it") -> _Model:
    """Validate plain values, as JSON or YAML has them, with a pydantic class; see ``convert_validation_errors``."""
    with convert_validation_errors(source, remedy, model=model):
        return model.model_validate(content)


def validate_json(model: type[_Model], text: str, source: object, remedy: str = "correct it", what: str = "") -> _Model:
    """Validate JSON text with a pydantic class; see ``convert_validation_errors``."""
    with convert_validation_errors(source, remedy, what, model=model):
        return model.model_validate_json(text)


@contextmanager
def convert_validation_errors(
    source: object,
    remedy: str = "correct it",
    what: str = "",
    error_class: type[UserError] = DataError,
    model: type[BaseModel] | None = None,
) -> Iterator[None]:
    """Convert a validation error of pydantic into an error of one line.

    Args:
        source: Where the values are from, such as a path, for the message.
        remedy: See ``read_model``.
        what: See ``read_model``.
        error_class: See ``read_model``.
        model: See ``describe_validation_error``.

    Raises:
        UserError: If a validation fails; of ``error_class``.
    """
    try:
        yield
    except ValidationError as error:
        problem = describe_validation_error(error, model)
        raise error_class(f"{source}: {f'not {what} ({problem})' if what else problem}; {remedy}") from error


def first_repeated(values: Iterable[str]) -> str | None:
    """Return the first value that occurs again, or None."""
    return next((value for value, count in Counter(values).items() if count > 1), None)


def describe_validation_error(
    error: ValidationError, model: type[BaseModel] | None = None, in_yaml: bool = True
) -> str:
    """Return the first problem of a validation as ``field NAME: what is wrong``, on one line.

    An unknown field comes before a missing one, which it may be, misspelled.

    Args:
        error: What pydantic raised.
        model: Class that was validated, if its fields are to be named where they are what is wrong.
        in_yaml: Whether the values may be from YAML, where a text that looks like a number needs quotation marks.
    """
    errors = error.errors(include_url=False, include_input=False)
    unknown = [each for each in errors if each["type"] == "extra_forbidden"]
    first = unknown[0] if unknown and errors[0]["type"] == "missing" else errors[0]
    location, problem = first["loc"], plain_problem(first, in_yaml)
    if model is not None and first["type"] == "extra_forbidden":
        known = _fields_at(model, location[:-1])
        problem += f"; {suggest_names(str(location[-1]), known)}" if known else ""
    elif model is not None and first["type"] == "model_type" and (known := _fields_at(model, location)):
        problem += f": {', '.join(known)}"
    field = ".".join(map(str, location))
    return excerpt(f"field {field}: {problem}" if field else problem)


def plain_problem(problem: ErrorDetails, in_yaml: bool = True) -> str:
    """Return what one of pydantic's problems is, in words of files in place of Python's."""
    words = _PROBLEMS.get(problem["type"], problem["msg"].removeprefix("Value error, "))
    return words + _YAML_HINTS.get(problem["type"], "") if in_yaml else words


def _fields_at(model: type[BaseModel], location: Sequence[int | str]) -> list[str]:
    """Return the names of the fields that may stand at a location in values of a class; empty where it is not clear."""
    found = [model]
    for part in location:
        fields = [each.model_fields[str(part)].annotation for each in found if str(part) in each.model_fields]
        # A key or a position in a container, or a member of a union, leads no deeper into the classes.
        found = _models_in(fields) if fields else found
    return list(found[0].model_fields) if len(found) == 1 else []


def _models_in(annotations: Iterable[Any]) -> list[type[BaseModel]]:
    """Return the pydantic classes that annotations name, also as parts of others."""
    found: list[type[BaseModel]] = []
    for each in annotations:
        if parts := get_args(each):
            found += _models_in(parts)
        elif isinstance(each, type) and issubclass(each, BaseModel):
            found.append(each)
    return found
