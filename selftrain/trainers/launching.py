"""Keeps what launchers of several processes say in the environment from those that they did not start."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from housewise.core.console import print_note

# As torchrun, Intel MPI, Open MPI and MVAPICH call them; accelerate reads all of these.
_SIZES = ("WORLD_SIZE", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE")
_PLACES = (
    *("RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK"),
    *("LOCAL_RANK", "MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK"),
    *("LOCAL_WORLD_SIZE", "MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"),
)


def environment_for_launcher() -> dict[str, str]:
    """The environment for a launcher, which tells its own processes how many they are.

    Those of a cluster are of no use to them: they would wait for others that nobody starts.
    """
    return {name: value for name, value in os.environ.items() if name not in (*_SIZES, *_PLACES)}


@contextmanager
def single_process(setting: str) -> Iterator[None]:
    """Train in this process alone, whatever a cluster has put into the environment.

    Args:
        setting: Name of the setting that starts several processes, for the note about what is ignored.
    """
    hidden: Mapping[str, str] = {name: os.environ[name] for name in (*_SIZES, *_PLACES) if name in os.environ}
    sizes = [f"{name}={hidden[name]}" for name in _SIZES if hidden.get(name, "1") != "1"]
    if sizes:
        print_note(f"{sizes[0]} is ignored: this training has one process; see {setting} to train with several")
    for name in hidden:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(hidden)


def is_main_process() -> bool:
    """Whether this process is the one of a training that speaks and removes files."""
    return os.environ.get("RANK", "0") == "0"


def wait_for_all_processes() -> None:
    """Wait until all processes of a launcher are here.

    accelerate names the device of each, which it does not have where several train on a CPU beside a GPU.
    """
    import torch

    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.barrier()
