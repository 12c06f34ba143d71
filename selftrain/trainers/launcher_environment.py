"""Environment variables of multi-process launchers: hidden from single-process trainings and from new launchers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from housewise.core.console import print_note

# The names that torchrun, Intel MPI, Open MPI and MVAPICH use; accelerate reads all of these.
_SIZES = ("WORLD_SIZE", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE")
_RANKS = (
    *("RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK"),
    *("LOCAL_RANK", "MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK"),
    *("LOCAL_WORLD_SIZE", "MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"),
)


def environment_for_launcher() -> dict[str, str]:
    """Return the environment for a launcher, without the variables of an outer launcher.

    With those of a cluster, its processes would wait for others that nobody starts.
    """
    return {name: value for name, value in os.environ.items() if name not in (*_SIZES, *_RANKS)}


@contextmanager
def single_process(setting: str) -> Iterator[None]:
    """Hide the variables of a launcher, so that training uses this process alone.

    Args:
        setting: Name of the setting that starts several processes, for the note about an ignored variable.
    """
    hidden = {name: os.environ[name] for name in (*_SIZES, *_RANKS) if name in os.environ}
    sizes = [f"{name}={hidden[name]}" for name in _SIZES if hidden.get(name, "1") != "1"]
    if sizes:
        print_note(f"{sizes[0]} is ignored: this training has one process; see {setting} to train with several")
    for name in hidden:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(hidden)


def choose_own_gpu(device: str) -> None:
    """Make ``cuda`` mean the GPU of this process of a launcher. Else every process loads its model onto the first.

    Args:
        device: As in the settings of the training.
    """
    import torch

    if "LOCAL_RANK" in os.environ and device in ("auto", "cuda") and torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())


def is_main_process() -> bool:
    """Return whether this process is the one of a training that prints and removes files."""
    return os.environ.get("RANK", "0") == "0"


def wait_for_all_processes() -> None:
    """Wait until all processes of a launcher have called this.

    accelerate's own function names a device for each process, which fails where several train on a CPU beside a GPU.
    """
    import torch

    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.barrier()
