"""Python, and the packages that the project or one of its extras needs, as the installed metadata tells them."""

from __future__ import annotations

import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement

from housewise.core.errors import UserError
from housewise.doctor.findings import CORE, Finding, State

GET_CORE = "pip install -e ."

_OLDEST, _NEWEST = (3, 10), (3, 12)
# OpenCV comes under several names; they overwrite each other, so that one has to be enough.
_SAME = {"opencv-python": ("opencv-python-headless", "opencv-contrib-python", "opencv-contrib-python-headless")}


def python(version: tuple[int, ...] = sys.version_info[:3]) -> list[Finding]:
    """Whether this Python is one that is supported."""
    oldest, newest, found = (".".join(map(str, numbers)) for numbers in (_OLDEST, _NEWEST, version))
    if _OLDEST <= version[:2] <= _NEWEST:
        return [Finding(CORE, "Python", "ok", found)]
    remedy = f"python{newest} -m venv .venv && .venv/bin/pip install -e ."
    return [Finding(CORE, "Python", "broken", f"{found}; {oldest} to {newest} are supported", remedy)]


def packages(topic: str, what: str, extra: str, remedy: str) -> list[Finding]:
    """Whether the packages of an extra are there, and recent enough.

    Args:
        topic, what: of the finding.
        extra: of the project; empty for what is always needed.
        remedy: gets them.

    Raises:
        UserError: when the project is not installed, or an older one without that extra.
    """
    missing, old, fine = [], [], []
    for requirement in requirements("housewise", extra):
        found = installed(requirement.name)
        if found is None:
            missing.append(f"{requirement.name} is not installed")
        elif not fits(requirement, found):
            old.append(f"{requirement.name} {found.version} is not {requirement.specifier}")
        else:
            fine.append(f"{requirement.name} {found.version}")
    state: State = "missing" if missing else "broken" if old else "ok"
    return [Finding(topic, what, state, ", ".join(missing + old + fine), remedy if missing or old else "")]


def requirements(package: str, extra: str = "") -> list[Requirement]:
    """What an installed package says that it needs.

    Args:
        package: its name.
        extra: only what this extra adds; empty for what is always needed.

    Raises:
        UserError: when the package is not installed, or has no such extra.
    """
    found = installed(package)
    if found is None:
        raise UserError(f"{package} itself is not installed; run {GET_CORE}")
    needs = [Requirement(text) for text in found.requires or ()]
    always = [need for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    if not extra:
        return always
    added = [need for need in needs if need not in always and need.marker and need.marker.evaluate({"extra": extra})]
    if not added:
        raise UserError(f"{package} {found.version}, which is installed, has no extra {extra!r}; run {GET_CORE}")
    return [need for need in added if need.name != package]


def installed(package: str) -> Distribution | None:
    """A package as it is installed, under any of its names."""
    for name in (package, *_SAME.get(package, ())):
        try:
            return distribution(name)
        except PackageNotFoundError:
            continue
    return None


def fits(requirement: Requirement, found: Distribution) -> bool:
    """Whether a package's version is one that is asked for."""
    return requirement.specifier.contains(found.version, prereleases=True)
