from pathlib import Path

import pytest

from housewise.core.errors import UserError
from housewise.core.files import atomic_output


@pytest.mark.parametrize("folder", [True, False])
def test_what_is_made_appears_whole(tmp_path: Path, folder: bool) -> None:
    place = tmp_path / "new" / "thing"
    with atomic_output(place) as partial:
        if folder:
            partial.mkdir()
            (partial / "part").touch()
        else:
            partial.touch()
        assert not place.exists()
    assert place.is_dir() == folder and place.exists()
    assert [path.name for path in place.parent.iterdir()] == ["thing"]


@pytest.mark.parametrize("folder", [True, False])
def test_what_is_cut_off_leaves_nothing(tmp_path: Path, folder: bool) -> None:
    with pytest.raises(KeyboardInterrupt), atomic_output(tmp_path / "thing") as partial:
        if folder:
            (partial / "inner").mkdir(parents=True)
        else:
            partial.touch()
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())


def test_nothing_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("mine")
    (tmp_path / "link").symlink_to("nowhere")
    for name, told in (("there", "is there already"), ("link", "is there already"), ("there/in", "cannot be made")):
        with pytest.raises(UserError, match=told), atomic_output(tmp_path / name):
            pass
    assert (tmp_path / "there").read_text() == "mine"
