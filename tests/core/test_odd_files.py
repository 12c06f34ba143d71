"""Pipes, devices and links where files are expected: none of them is waited for, read without end, or followed out."""

import os
from pathlib import Path

import pytest

from housewise.core.errors import UserError
from housewise.core.files import read_bytes
from housewise.core.folder_locks import exclusive_lock


def test_regular_files_alone_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    assert read_bytes(tmp_path / "file", 5) == read_bytes(tmp_path / "link") == b"12345"
    for name in ("pipe", "device", "."):
        with pytest.raises(OSError, match="not a regular file"):
            read_bytes(tmp_path / name)
    with pytest.raises(OSError, match="larger than"):
        read_bytes(tmp_path / "file", 4)


@pytest.mark.parametrize(
    ("name", "target", "said"),
    [
        (".lock", "../outside", "leads out"),
        ("inner/episodes", "../../outside", "leads out"),
        ("file", "/dev/zero", "leads out"),
        ("missing", "../nowhere", "leads out"),
        ("itself", "itself", "leads out"),
        ("pipe", None, "neither a file nor a folder"),
    ],
)
def test_a_folder_that_leads_elsewhere_is_not_written_to(
    tmp_path: Path, name: str, target: str | None, said: str
) -> None:
    folder, outside = tmp_path / "run", tmp_path / "outside"
    outside.write_text("mine")
    path = folder / name
    path.parent.mkdir(parents=True)
    if target is None:
        os.mkfifo(path)
    else:
        path.symlink_to(target)
    with pytest.raises(UserError, match=said) as raised, exclusive_lock(folder):
        pass
    assert str(path) in str(raised.value) and outside.read_text() == "mine"


def test_links_within_a_folder_are_fine(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "again").symlink_to(tmp_path)
    with exclusive_lock(tmp_path):
        pass
