"""Gymnasium finds the environments by their ids."""

import subprocess
import sys

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

from housewise.worlds.registration import ENVIRONMENTS


@pytest.mark.parametrize(
    "imports",
    [
        "import gymnasium, housewise",
        "import housewise, gymnasium",
        "import housewise, importlib.util; importlib.util.find_spec('gymnasium'); import gymnasium",
    ],
)
def test_ids_are_known_after_importing_housewise(imports: str) -> None:
    code = f"{imports}; print(*sorted(name for name in gymnasium.registry if name.startswith('housewise/')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == sorted(ENVIRONMENTS)


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_environments_pass_the_checker(name: str) -> None:
    environment = gymnasium.make(name)
    check_env(environment.unwrapped, skip_render_check=True)
    environment.close()
