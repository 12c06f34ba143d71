"""What is installed: every folder at the top, as a part of the one package ``housewise``."""

from setuptools import find_namespace_packages, setup

FOLDERS = (
    "core", "language", "worlds", "people", "controller", "agent", "rollout", "systems", "selftrain", "experiments",
    "housekeep_configs",
)  # fmt: skip

places = {"housewise": "housewise"} | {f"housewise.{folder}": folder for folder in FOLDERS}
packages = [
    ".".join(filter(None, (name, inside)))
    for name, folder in places.items()
    for inside in ("", *find_namespace_packages(folder, exclude=("*__pycache__*",)))
]

setup(packages=packages, package_dir=places)
