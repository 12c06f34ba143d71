"""A tiny model that is trained here, and a server for fine-tuning."""

from collections.abc import Iterator

import pytest

from tests.selftrain.trainers.fine_tuning_server import FineTuning
from tests.servers import serving


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a tiny model in a folder."""
    from tests.selftrain.tiny import save_learner

    return f"local:{save_learner(tmp_path_factory.mktemp('learner') / 'tiny')}"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FineTuning]:
    """A server that speaks the protocol of the fine-tuning API, whose key is in the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-secret")
    with serving(FineTuning()) as running:
        yield running
