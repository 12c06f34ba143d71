"""All checks of the doctor, in the order in which their findings are shown."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from housewise.core.render_devices import ANY, GpuSetting
from housewise.doctor.accelerators import check_cpu, check_gpus
from housewise.doctor.chat_server import ServerChoice, check_chat_server
from housewise.doctor.data import GET_DATA, check_housekeep
from housewise.doctor.findings import ACCELERATORS, CORE, DATA, MACHINES, MODELS, SERVER, SIMULATORS, Check
from housewise.doctor.model_memory import MEMORY, check_model_memory, is_local
from housewise.doctor.models import check_adapters, check_minilm, check_server_variables, check_smollm2
from housewise.doctor.packages import GET_CORE, check_packages, check_python
from housewise.doctor.simulators import (
    GET_DRIVER,
    GET_ENCODER,
    GET_LAB,
    check_egl_drivers,
    check_film_encoder,
    check_habitat,
    check_habitat_lab,
    check_raycast,
)

_REINSTALL = "pip install --force-reinstall"


def list_checks(data: Path | None, gpu: GpuSetting = ANY, server: ServerChoice | None = None) -> tuple[Check, ...]:
    """List all checks.

    Args:
        data: Folder of the Housekeep data, or None if none is named.
        gpu: CUDA devices that habitat-sim is tested on.
        server: Chat server to test, a local model whose memory is estimated, or both.
    """
    return (
        Check(CORE, "Python", check_python),
        Check(CORE, "packages", partial(check_packages, CORE, "packages", "", GET_CORE), GET_CORE),
        Check(SIMULATORS, "raycast", check_raycast, f"{_REINSTALL} embreex", is_isolated=True),
        Check(SIMULATORS, "habitat", partial(check_habitat, gpu), GET_DRIVER, is_isolated=True),
        Check(SIMULATORS, "EGL drivers", check_egl_drivers, GET_DRIVER),
        Check(SIMULATORS, "habitat-lab", check_habitat_lab, GET_LAB, is_isolated=True),
        Check(SIMULATORS, "films", check_film_encoder, GET_ENCODER),
        Check(ACCELERATORS, "CPU", check_cpu),
        Check(ACCELERATORS, "GPU", check_gpus, f"{_REINSTALL} torch", is_isolated=True),
        *(_check_extra(MODELS, extra) for extra in ("grounded", "local", "train", "quantized")),
        Check(MODELS, "SmolLM2", check_smollm2),
        Check(MODELS, "sentence embeddings", check_minilm),
        Check(MODELS, "adapters", check_adapters),
        Check(MODELS, "server", check_server_variables),
        *([] if server is None else _check_model(server)),
        _check_extra(MACHINES, "distributed"),
        Check(DATA, "Housekeep", partial(check_housekeep, data), GET_DATA, is_isolated=True),
    )


def _check_model(server: ServerChoice) -> Iterator[Check]:
    local = server.model if server.model is not None and is_local(server.model) else None
    if local is not None:
        yield Check(MEMORY, "memory", partial(check_model_memory, local))
    if server.base_url is not None or local is None:
        yield Check(SERVER, "server", partial(check_chat_server, server))


def _check_extra(topic: str, extra: str) -> Check:
    name = f"housewise[{extra}]"
    remedy = f"pip install '{name}'"
    return Check(topic, name, partial(check_packages, topic, name, extra, remedy), remedy)
