"""What many tests share: the Housekeep data where it is at hand, a generated house, a house made by hand."""

import gc
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from housewise.worlds.house.env import RearrangementTask
from housewise.worlds.house.generator import generate
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from housewise.worlds.house.preferences import load_preferences
from tests.commands import preload
from tests.embeddings import VARIABLE as EMBEDDINGS
from tests.embeddings import share_embeddings
from tests.servers import serving
from tests.worlds.house.toy import toy_task

if TYPE_CHECKING:
    from tests.language.conftest import ChatServer

HOUSEKEEP = "HOUSEWISE_TEST_HOUSEKEEP"
"""Environment variable with the Housekeep folder during the tests, as only some of them may find it."""
if "HOUSEKEEP_DATA" in os.environ:
    os.environ[HOUSEKEEP] = os.environ.pop("HOUSEKEEP_DATA")

# Shared machines stall now and then; what is slow shows in the suite's time, not in one example's.
settings.register_profile("housewise", deadline=None, max_examples=50)
settings.load_profile("housewise")


def pytest_sessionstart(session: pytest.Session) -> None:
    """What runs tests starts the process that their commands are forks of; what only hands tests out does not."""
    if session.config.getoption("dist", "no") == "no" or hasattr(session.config, "workerinput"):
        name = f"housewise-embeddings-{os.environ.get('PYTEST_XDIST_TESTRUNUID', os.getpid())}"
        os.environ[EMBEDDINGS] = str(Path(tempfile.gettempdir()) / name)
        share_embeddings(Path(os.environ[EMBEDDINGS]))
        preload()


def pytest_sessionfinish() -> None:
    """Delete the file of embeddings that commands share."""
    if path := os.environ.pop(EMBEDDINGS, None):
        Path(path).unlink(missing_ok=True)


def pytest_collection_finish() -> None:
    """Leave thousands of tests and their modules out of what is looked through for garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def housekeep() -> HousekeepData:
    """The Housekeep data; mark the tests that ask for it with ``pytest.mark.housekeep``."""
    root = os.environ.get(HOUSEKEEP)
    if not root:
        pytest.skip("HOUSEKEEP_DATA is not set: name the folder of the Housekeep repository in it to run this test")
    if not Path(root).is_dir():
        pytest.skip(f"HOUSEKEEP_DATA names {root}, which is not a folder")
    return HousekeepData(root)


@pytest.fixture(scope="session")
def generated() -> RearrangementTask:
    """A generated house with an episode."""
    return RearrangementTask(*generate(0, load_preferences("ada")))


@pytest.fixture(scope="session")
def toy() -> RearrangementTask:
    """A small house of known measures; see tests/worlds/house/toy.py."""
    return toy_task()


@pytest.fixture
def server() -> Iterator["ChatServer"]:
    """A chat server on this machine, which says hello until a test tells it otherwise."""
    # openai, which its module imports, is optional.
    from tests.language.conftest import ChatServer

    with serving(ChatServer()) as running:
        yield running
        running.ending.set()


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Start Ray on this machine, and return its address."""
    pytest.importorskip("ray", reason="the extra housewise[distributed] is not installed")
    from ray.cluster_utils import Cluster

    # With three cores, one is left for simulators and two are left for models.
    node = {"num_cpus": 3, "object_store_memory": 100_000_000, "include_dashboard": False}
    started = Cluster(initialize_head=True, head_node_args=node)
    yield started.address
    started.shutdown()
