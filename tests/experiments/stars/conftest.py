"""The chat server of the system's tests."""

from tests.systems.stars.conftest import server  # noqa: F401
