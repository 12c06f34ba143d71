"""Damaged files of 3D models are reported with the file, the reason and the remedy."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from housewise.core.errors import DataError
from housewise.worlds.house.model_checks import check_model_file
from tests.commands import run_module
from tests.worlds.house import housekeep_folder
from tests.worlds.house.broken_files import POINTER, write_model

KINDS = ("obj", "gltf", "glb", "ply")
PARTS = [(kind, "model." + kind) for kind in KINDS] + [
    ("obj", "material.mtl"),
    ("obj", "material_0.png"),
    ("gltf", "gltf_buffer.bin"),
    ("gltf", "picture_0.png"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_a_complete_model_passes(tmp_path: Path, kind: str) -> None:
    check_model_file(write_model(tmp_path, kind))


@pytest.mark.parametrize(("kind", "part"), PARTS)
def test_a_pointer_an_empty_and_a_cut_off_file_are_named_with_the_remedy(tmp_path: Path, kind: str, part: str) -> None:
    model, damaged = write_model(tmp_path / "a folder", kind), tmp_path / "a folder" / part
    content = damaged.read_bytes()
    wrong = [(POINTER.encode(), rf"Git LFS's pointer.*; run git -C '{tmp_path}/a folder' lfs pull"), (b"", "is empty")]
    # A truncated file of materials is still valid.
    wrong += [] if part.endswith(".mtl") else [(content[: len(content) // 2], "damaged .*; fetch the file again")]
    for what, told in wrong:
        damaged.write_bytes(what)
        with pytest.raises(DataError, match=told) as caught:
            check_model_file(model)
        assert str(caught.value).startswith(f"{damaged}: ") and "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
@given(place=st.floats(0, 1, exclude_max=True), junk=st.binary(min_size=1, max_size=40))
def test_random_damage_passes_or_is_reported_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, kind: str, place: float, junk: bytes
) -> None:
    model = write_model(tmp_path_factory.mktemp("model"), kind)
    content = model.read_bytes()
    start = int(place * len(content))
    model.write_bytes(content[:start] + junk + content[start + len(junk) :])
    try:
        check_model_file(model)
    except DataError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize("simulator", ["raycast", "habitat"])
@pytest.mark.parametrize(
    ("part", "content", "told"),
    [
        ("model.obj", POINTER, "lfs pull"),
        ("model.obj", "", "the file is empty"),
        ("material.mtl", POINTER, "lfs pull"),
        ("material_0.png", POINTER, "lfs pull"),
        ("material_0.png", "no picture", "damaged (not a picture)"),
    ],
)
def test_a_run_with_a_damaged_model_names_the_file_before_the_first_step(
    tmp_path: Path, simulator: str, part: str, content: str, told: str
) -> None:
    if simulator == "habitat":
        pytest.importorskip("habitat_sim", reason="habitat-sim is not installed")
    root = housekeep_folder.make_folder(tmp_path / "data")
    bed = root / housekeep_folder.MODELS / housekeep_folder.SCENE / "bed_3_0"
    write_model(bed, "obj")
    (bed / part).write_text(content)
    words = ["run", "--data", root, "--planner", "scripted", "--simulator", simulator, "--out", tmp_path / "run"]
    done = run_module("housewise", words)
    assert done.returncode == 3
    assert str(bed / part) in done.stderr and told in done.stderr and "Traceback" not in done.stdout + done.stderr
    failed = [file.read_text().splitlines() for file in (tmp_path / "run/episodes").glob("*.failed")]
    assert len(failed) == 2 and all(len(lines) == 1 for lines in failed)
