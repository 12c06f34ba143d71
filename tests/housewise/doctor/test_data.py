"""What the doctor says of folders of data."""

import subprocess
from pathlib import Path
from typing import Any

import trimesh

from housewise.doctor.data import GET_DATA, SceneSummary, _scene_finding, _stand_in_findings, check_housekeep
from housewise.doctor.findings import Finding
from tests.housewise.doctor.asking import by_what
from tests.worlds.house import housekeep_folder
from tests.worlds.house.broken_files import POINTER


def test_a_housekeep_folder_is_told_scene_by_scene(tmp_path: Path) -> None:
    root = housekeep_folder.make_folder(tmp_path / "data")
    found = by_what(check_housekeep(root))
    assert found["Housekeep"].details == f"{root}: 1 scenes"
    assert found[housekeep_folder.SCENE].details == "2 episodes, 5 pieces of furniture"
    assert found["scene shells"].details.startswith(f"0 of 1; walls are inferred in {housekeep_folder.SCENE}; ")
    assert found["furniture models"].details == f"4 of 5; boxes stand in for 1 of {housekeep_folder.SCENE}"
    assert found["object models"].details.startswith("0 of 4; ")
    assert found["annotations"] == Finding("data", "annotations", "ok", "10 people")
    assert found["furniture models"].remedy == GET_DATA
    # No repository has them.
    assert found["scene shells"].remedy == found["object models"].remedy == ""


def test_a_clone_is_mended_where_it_is_if_it_lacks_what_its_repository_has(tmp_path: Path) -> None:
    root = housekeep_folder.make_folder(tmp_path / "my data")
    scripts = root / "cos_eor/scripts"
    (scripts / "gso_downloader.py").write_text("")
    trimesh.creation.box().export(root / housekeep_folder.NAVMESH.replace("_approx.navmesh", ".glb"))
    for command in ("init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm data"):
        subprocess.run(["git", "-C", str(root), *command.split()], check=True)
    found = by_what(check_housekeep(root))
    assert found["scene shells"] == Finding("data", "scene shells", "ok", "all 1")
    assert found["furniture models"].remedy == ""
    assert found["object models"].remedy.startswith(f"cd '{root}' && python cos_eor/scripts/gso_downloader.py")
    (root / housekeep_folder.MODELS / housekeep_folder.SCENE / "bed_3_0/model.obj").unlink()
    assert by_what(check_housekeep(root))["furniture models"].remedy == f"git -C '{root}' restore ."


def test_objects_that_have_models_are_counted(tmp_path: Path) -> None:
    root = housekeep_folder.make_folder(tmp_path)

    def modelled(episode: dict[str, Any]) -> None:
        episode["objs_files"] = ["data/objects/mug.object_config.json", "data/objects/pan.object_config.json"]

    housekeep_folder.change_episodes(root / housekeep_folder.EPISODES, modelled)
    objects = root / "data/objects"
    objects.mkdir()
    (objects / "mug.object_config.json").write_text('{"render_asset": "mug.glb"}')
    trimesh.creation.box().export(objects / "mug.glb")
    (objects / "pan.object_config.json").write_text('{"render_asset": "gone.glb"}')
    found = by_what(check_housekeep(root))
    damaged = f"{housekeep_folder.SCENE} in habitat"
    assert found["object models"].details.startswith("1 of 4; ") and damaged not in found
    (objects / "mug.glb").write_text(POINTER)
    found = by_what(check_housekeep(root))[damaged]
    assert (found.state, found.remedy) == ("broken", f"git -C {objects} lfs pull")
    assert found.details.startswith(f"{objects / 'mug.glb'}: only Git LFS's pointer")


def test_what_is_damaged_in_the_data_is_told(tmp_path: Path) -> None:
    root = housekeep_folder.make_folder(tmp_path)
    (root / housekeep_folder.EPISODES).write_bytes(b"not gzip")
    (root / housekeep_folder.ANNOTATIONS).write_bytes(b"not numpy")
    found = by_what(check_housekeep(root))
    assert found[housekeep_folder.SCENE].state == "broken"
    assert "damaged or incomplete" in found[housekeep_folder.SCENE].details
    assert found["annotations"].state == "broken"
    (root / housekeep_folder.EPISODES).unlink()
    (root / housekeep_folder.ANNOTATIONS).unlink()
    found = by_what(check_housekeep(root))
    none = "no episodes; Housekeep's repository has none of this scene"
    assert found[housekeep_folder.SCENE] == Finding("data", housekeep_folder.SCENE, "missing", none)
    assert found["annotations"].state == "missing"
    (root / housekeep_folder.NAVMESH).unlink()
    assert check_housekeep(root)[0].state == "broken"


def test_nothing_is_advised_that_the_repository_lacks_too(tmp_path: Path) -> None:
    looks = [SceneSummary("Merom_1_int", 200, True, 78, 1, 1), SceneSummary("Rs_int", 0, True, 30)]
    found = [*(_scene_finding(tmp_path, each) for each in looks), *_stand_in_findings(tmp_path, looks)]
    assert not any(each.remedy for each in found)
    damaged = [SceneSummary("Merom_1_int", 0, True, 78, 2, 1)]
    lost = [*(_scene_finding(tmp_path, each) for each in damaged), *_stand_in_findings(tmp_path, damaged)]
    assert [each.what for each in lost if each.remedy == GET_DATA] == ["Merom_1_int", "furniture models"]
