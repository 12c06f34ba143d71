"""Validates files and values with pydantic; an error is one line that names the source, the field and the remedy.

``read_model`` is the way to read a YAML or JSON file as a pydantic class.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from housewise.core.errors import DataError, UserError, excerpt
from housewise.core.text_files import read_text

_Model = TypeVar("_Model", bound=BaseModel)


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
    if path.suffix == ".json":
        return validate_json(model, read_text(path, remedy), path, remedy, what, error_class)
    # PyYAML takes a while to import, and commands without YAML files do without it.
    from housewise.core.yaml_files import read_yaml

    return validate_model(model, read_yaml(path, remedy), path, remedy, what, error_class)


def validate_model(
    model: type[_Model],
    content: Any,
    source: object,
    remedy: str = "correct it",
    what: str = "",
    error_class: type[UserError] = DataError,
) -> _Model:
    """Validate plain values with a pydantic class.

    Args:
        model: Class to validate with.
        content: Plain values, as JSON or YAML has them.
        source: Where the values are from, such as a path, for the message.
        remedy, what, error_class: See ``read_model``.

    Raises:
        UserError: If the content does not fit the model; of ``error_class``.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise _to_user_error(error, source, remedy, what, error_class) from error


def validate_json(
    model: type[_Model],
    text: str | bytes,
    source: object,
    remedy: str = "correct it",
    what: str = "",
    error_class: type[UserError] = DataError,
) -> _Model:
    """Validate JSON text with a pydantic class; see ``validate_model``."""
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        raise _to_user_error(error, source, remedy, what, error_class) from error


def describe_validation_error(error: ValidationError) -> str:
    """Return the first problem of a validation as ``field NAME: what is wrong``, on one line."""
    first = error.errors(include_url=False, include_input=False)[0]
    field, problem = ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")
    if first["type"] == "model_type":  # its message would name a class
        problem = "expected fields and their values"
    return excerpt(f"field {field}: {problem}" if field else problem)


def _to_user_error(
    error: ValidationError, source: object, remedy: str, what: str, error_class: type[UserError]
) -> UserError:
    problem = describe_validation_error(error)
    return error_class(f"{source}: " + (f"not {what} ({problem})" if what else problem) + f"; {remedy}")
