"""Packages of the distribution: ``housewise`` and the folders at the top that are linked into it.

``housewise/agent`` is a link to ``agent/``, and so on, so that editors and type checkers resolve ``housewise.agent``.
Where a checkout holds no links (git on Windows without ``core.symlinks``), the folders are mapped instead.
"""

from pathlib import Path

from setuptools import find_namespace_packages, setup

FOLDERS = ("agent", "controller", "selftrain", "experiments", "housekeep_configs")

mapped = {f"housewise.{name}": name for name in FOLDERS if not Path("housewise", name).is_dir()}
packages = find_namespace_packages(include=("housewise", "housewise.*"), exclude=("*__pycache__*",)) + [
    ".".join(filter(None, (package, inside)))
    for package, folder in mapped.items()
    for inside in ("", *find_namespace_packages(folder, exclude=("*__pycache__*",)))
]

# A package directory "" makes an editable installation a plain path, which editors and type checkers can follow.
setup(packages=packages, package_dir=mapped or {"": "."})
