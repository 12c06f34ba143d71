"""The doctor as a user meets it, on machines where things are broken: real processes and made-up packages."""

import json
import subprocess
from pathlib import Path

import pytest

from housewise.doctor.data import GET_DATA
from housewise.doctor.simulators import GET_DRIVER
from housewise.worlds.house.simulator.habitat import INSTALL
from tests.housewise.doctor.asking import KEY, TOPICS, doctor, package, read


def test_it_says_what_is_here_and_what_gets_the_rest(tmp_path: Path) -> None:
    result = doctor("--json", tmp_path / "doctor.json")
    assert result.returncode == 0, result.stdout + result.stderr
    assert not result.stderr
    content = json.loads((tmp_path / "doctor.json").read_text())
    assert content["is_working"] is True
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
    environment = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": url, "HOUSEKEEP_DATA": str(folder / "elsewhere")}
    words = ("--data", folder, "--json", folder / "doctor.json")
    return doctor(*words, fakes=folder / "fakes", **environment), folder


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


def test_a_folder_that_is_not_housekeeps(overheard: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    found = read(overheard[1] / "doctor.json")["Housekeep"]
    assert found.state == "broken" and str(overheard[1]) in found.details and "elsewhere" not in found.details
    assert "HOUSEKEEP_DATA" in found.remedy


@pytest.mark.slow
def test_a_broken_embedded_simulator_is_said_and_counts(tmp_path: Path) -> None:
    package(tmp_path / "fakes", "embreex", "raise ImportError('libembree4.so.4: cannot open shared object file')")
    result = doctor(module="housewise.doctor", fakes=tmp_path / "fakes")
    assert result.returncode == 1
    assert "Traceback" not in result.stdout + result.stderr
    assert "pip install --force-reinstall embreex" in result.stdout.splitlines()
    assert "The embedded simulator does not work" in result.stdout


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = doctor("--json", tmp_path / "file" / "doctor.json")
    assert result.returncode == 2
    assert "cannot be written" in result.stderr
