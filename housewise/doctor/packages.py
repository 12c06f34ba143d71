"""Check Python, and the packages that the project or one of its extras requires."""

from __future__ import annotations

import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement

from housewise.core.errors import UserError
from housewise.doctor.findings import CORE, Finding, State

GET_CORE = "pip install -e ."

_OLDEST, _NEWEST = (3, 10), (3, 12)
# OpenCV is distributed under several names that overwrite each other, so that one of them is enough.
_SAME = {"opencv-python": ("opencv-python-headless", "opencv-contrib-python", "opencv-contrib-python-headless")}


def check_python(version: tuple[int, ...] = sys.version_info[:3]) -> list[Finding]:
    """Check whether this version of Python is supported."""
    oldest, newest, found = (".".join(map(str, numbers)) for numbers in (_OLDEST, _NEWEST, version))
    if _OLDEST <= version[:2] <= _NEWEST:
        return [Finding(CORE, "Python", "ok", found)]
    remedy = f"python{newest} -m venv .venv && .venv/bin/pip install -e ."
    return [Finding(CORE, "Python", "broken", f"{found}; {oldest} to {newest} are supported", remedy)]


def check_packages(topic: str, what: str, extra: str, remedy: str) -> list[Finding]:
    """Check whether the packages of an extra are installed in versions that fit.

    Args:
        topic: Topic of the finding.
        what: Name of the finding.
        extra: Extra of the project, or an empty text for the packages that are always required.
        remedy: Command that installs them.

    Raises:
        UserError: The project is not installed, or in an older version without this extra.
    """
    missing, old, fine = [], [], []
    for requirement in list_requirements("housewise", extra):
        found = find_distribution(requirement.name)
        if found is None:
            missing.append(f"{requirement.name} is not installed")
        elif not satisfies(requirement, found):
            old.append(f"{requirement.name} {found.version} is not {requirement.specifier}")
        else:
            fine.append(f"{requirement.name} {found.version}")
    state: State = "missing" if missing else "broken" if old else "ok"
    return [Finding(topic, what, state, ", ".join(missing + old + fine), remedy if missing or old else "")]


def list_requirements(package: str, extra: str = "") -> list[Requirement]:
    """List the requirements of an installed package.

    Args:
        package: Name of the package.
        extra: Extra whose additional requirements are listed, or an empty text for those that always hold.

    Raises:
        UserError: The package is not installed, or has no such extra.
    """
    found = find_distribution(package)
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


def find_distribution(package: str) -> Distribution | None:
    """Find an installed package under any of its names."""
    for name in (package, *_SAME.get(package, ())):
        try:
            return distribution(name)
        except PackageNotFoundError:
            continue
    return None


def satisfies(requirement: Requirement, found: Distribution) -> bool:
    """Whether an installed version satisfies a requirement."""
    return requirement.specifier.contains(found.version, prereleases=True)
