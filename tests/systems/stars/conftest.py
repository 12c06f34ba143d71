"""A chat server that says where things belong."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.language.conftest import ChatServer
from tests.servers import serving
from tests.systems.stars.server import housekeeper


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with serving(ChatServer()) as made:
        made.play(housekeeper())
        yield made
