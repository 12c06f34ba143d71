"""A chat server that says where things belong."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.language.conftest import ChatServer
from tests.servers import serving
from tests.systems.command_runs import ATTIC
from tests.systems.stars.housekeeper_server import housekeeper


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with serving(ChatServer()) as made:
        made.play(housekeeper())
        yield made


@pytest.fixture
def attic(tmp_path: Path) -> Path:
    """The file of a small custom task."""
    path = tmp_path / "attic.yaml"
    path.write_text(ATTIC)
    return path
