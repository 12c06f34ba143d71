"""Whether habitat-lab is there; where it is absent or too old, the user is told what to do in one line."""

from __future__ import annotations

from housewise.core.errors import UserError

OLDEST = (0, 3, 3)
"""The oldest habitat-lab whose interface this is."""
INSTALL = "pip install 'housewise[habitat]' && pip install --no-deps habitat-lab"


def check_habitat_lab() -> None:
    """Make sure that habitat-lab can be used.

    Raises:
        UserError: when it is not installed, lacks habitat-sim, is another package of that name, or is too old.
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
