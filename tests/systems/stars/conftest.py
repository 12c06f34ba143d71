"""A chat server that says where things belong."""

from pathlib import Path

import pytest

from tests.language.conftest import ChatServer
from tests.systems.command_runs import ATTIC
from tests.systems.stars.housekeeper_server import housekeeper


@pytest.fixture
def server(server: ChatServer) -> ChatServer:
    server.play(housekeeper())
    return server


@pytest.fixture
def attic(tmp_path: Path) -> Path:
    """The file of a small custom task."""
    path = tmp_path / "attic.yaml"
    path.write_text(ATTIC)
    return path
