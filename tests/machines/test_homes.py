"""Users without a home folder or a name, and folders that cannot be written to."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from housewise.core.errors import UserError
from housewise.core.files import check_writable
from housewise.core.user_folders import expand_user
from tests.commands import run_module
from tests.machines.shims import PLAYED, episodes, failing, housewise

# What a container's user has whose number is in no list of users.
NOBODY: dict[str, str | None] = dict.fromkeys(
    ["HOME", "USER", "LOGNAME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "HOUSEWISE_MEMORY"]
)
MEMORY = ["--memory", "ada", "memory.new=true"]
LIBRARIES = """
import getpass
from pathlib import Path
from housewise.core.exit_codes import run_cli

def look():
    import matplotlib
    from huggingface_hub.constants import HF_HOME
    for folder in (matplotlib.get_cachedir(), matplotlib.get_configdir(), HF_HOME):
        assert Path(folder).is_absolute(), folder
    print(getpass.getuser())

run_cli(look)
"""


@pytest.fixture
def nobody(tmp_path: Path) -> dict[str, str | None]:
    """An environment of such a user: Python looks it up with getpwuid."""
    return {**NOBODY, **failing(tmp_path, "getpwuid_r", "int uid, void *p, char *b, size_t n, void **r", "ENOENT", "2")}


@pytest.mark.slow
def test_without_a_home_a_memory_has_to_be_named_before_anything_is_played(
    tmp_path: Path, nobody: dict[str, str | None]
) -> None:
    out = tmp_path / "run"
    refused = housewise(*PLAYED, *MEMORY, "--out", out, env=nobody)
    assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1
    assert "HOUSEWISE_MEMORY" in refused.stderr and not episodes(out)
    named = {**nobody, "HOUSEWISE_MEMORY": str(tmp_path / "memories")}
    done = housewise(*PLAYED, *MEMORY, "--out", out, env=named)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "memories" / "ada" / "notes.jsonl").is_file()


@pytest.mark.parametrize("words", [pytest.param(PLAYED, marks=pytest.mark.slow), ["list"]])
def test_what_needs_no_home_works_without_one(tmp_path: Path, nobody: dict[str, str | None], words: list[str]) -> None:
    done = housewise(*words, *(["--out", "run"] if words == PLAYED else []), env=nobody, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "~").exists()


def test_libraries_find_folders_and_a_name(nobody: dict[str, str | None]) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("huggingface_hub")
    env = {name: value for name, value in {**os.environ, **nobody}.items() if value is not None}
    done = subprocess.run([sys.executable, "-c", LIBRARIES], capture_output=True, text=True, env=env, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "nobody\n", "")


def test_homes_of_nobody_are_named() -> None:
    with pytest.raises(UserError, match="~no-such-user/data: there is no such home folder"):
        expand_user("~no-such-user/data")


def test_a_memory_that_cannot_be_kept_is_refused_before_the_first_episode(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    out = tmp_path / "run"
    done = run_module("housewise", [*PLAYED, *MEMORY, f"memory.folder={tmp_path / 'file'}", "--out", out])
    assert done.returncode == 2 and f"{tmp_path / 'file' / 'ada'}: cannot be written to" in done.stderr
    assert not [*out.rglob("*.jsonl*")]


def test_writable_folders_are_left_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "there").mkdir()
    synced: list[int] = []

    def sync_while_a_memory_is_saved_there(descriptor: int) -> None:
        synced.append(descriptor)
        for path in [*tmp_path.rglob(".*.partial")]:
            path.unlink()

    monkeypatch.setattr(os, "fsync", sync_while_a_memory_is_saved_there)
    check_writable(tmp_path / "there")
    check_writable(tmp_path / "not" / "there")
    assert [*tmp_path.rglob("*")] == [tmp_path / "there"] and len(synced) == 2


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="needs root, to mount a disk")
@pytest.mark.parametrize("options", ["ro", "size=4k"])
def test_read_only_and_full_disks_are_not_writable(tmp_path: Path, options: str) -> None:
    code = "from pathlib import Path; from housewise.core.files import check_writable as c; c(Path('disk/x'))"
    fill = "head -c 4096 /dev/zero > disk/full;" if options != "ro" else ""
    script = f'mount -t tmpfs -o {options} none disk || exit 77; {fill} exec {sys.executable} -c "{code}"'
    (tmp_path / "disk").mkdir()
    done = subprocess.run(
        ["unshare", "-m", "bash", "-c", script], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    if done.returncode == 77:
        pytest.skip("cannot mount")
    assert "UserError: disk/x: cannot be written to" in done.stderr


@pytest.mark.parametrize(("place", "reason"), [("file/figures.json", "Not a directory"), ("", "is a folder")])
def test_a_file_of_figures_that_cannot_be_written_is_named_first(tmp_path: Path, place: str, reason: str) -> None:
    (tmp_path / "file").touch()
    # The runs are missing as well, which would be said later.
    done = run_module("housewise", ["compare", "one", "other", "--json", tmp_path / place], cwd=tmp_path)
    assert done.returncode == 2 and reason in done.stderr and len(done.stderr.splitlines()) == 1
