"""Checks that habitat-lab is installed in a supported version."""

from __future__ import annotations

from housewise.core.errors import UserError

OLDEST = (0, 3, 3)
"""The oldest supported version of habitat-lab."""
INSTALL = "pip install 'housewise[habitat]' && pip install --no-deps habitat-lab"


def check_habitat_lab() -> None:
    """Check that habitat-lab can be imported and is not too old.

    Raises:
        UserError: If habitat-lab is not installed, lacks habitat-sim, is another package of that name, or is too old.
    """
    try:
        import habitat
    except ImportError as error:
        if error.name == "habitat":
            raise UserError(f"habitat-lab is not installed; run {INSTALL}") from error
        raise UserError(f"habitat-lab cannot be imported ({error}); housewise doctor says what it lacks") from error
    if not hasattr(habitat, "get_config"):
        raise UserError(f"the package habitat that is installed is not habitat-lab; uninstall it and run {INSTALL}")
    version = tuple(int(part) for part in str(habitat.__version__).split(".")[:3] if part.isdigit())
    if version < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise UserError(f"habitat-lab {habitat.__version__} is too old: {oldest} or later is needed; run {INSTALL}")
