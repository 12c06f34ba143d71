"""A chat server that says where things belong."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from tests.language.conftest import ChatServer
from tests.systems.stars.server import housekeeper


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        made.play(housekeeper())
        yield made
        made.shutdown()
