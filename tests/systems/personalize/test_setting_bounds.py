"""Settings outside their bounds are refused by name."""

import re

import pytest

from housewise.core.errors import UserError
from housewise.selftrain.personalize.settings import load_selftraining
from housewise.systems.personalize.settings import house_settings


def refusal(override: str) -> str:
    with pytest.raises(UserError) as refused:
        house_settings(overrides=[override])
    return str(refused.value)


@pytest.mark.parametrize("number", [".nan", ".inf", "-.inf", "nan", "inf", "1e999"])
@pytest.mark.parametrize("key", ["look_down", "timeout", "sampling.temperature", "controller.goal_radius"])
def test_settings_are_finite(key: str, number: str) -> None:
    assert refusal(f"{key}={number}").startswith(f"setting {key}: ")


@pytest.mark.parametrize("degrees", ["-95", "85.1", "1e30"])
def test_the_camera_looks_down_at_most_as_far_as_it_can_turn(degrees: str) -> None:
    assert re.match(r"setting look_down: .* equal to -?85", refusal(f"look_down={degrees}"))


@pytest.mark.parametrize("number", [".nan", ".inf"])
@pytest.mark.parametrize(
    "key",
    ["run.look_down", "training.learning_rate", "training.epochs", "imitation_epochs", "grow.temperature"]
    + ["training.poll_seconds", "imitation_learning_rate", "replay_fraction"],
)
def test_settings_of_learning_are_finite(key: str, number: str) -> None:
    with pytest.raises(UserError, match=f"setting {key}: "):
        load_selftraining(overrides=[f"{key}={number}"])


def test_thresholds_are_finite() -> None:
    with pytest.raises(UserError, match=r"filter\.thresholds"):
        load_selftraining(overrides=["filter.thresholds=[0.5,.nan]"])


@pytest.mark.parametrize("settings", [{"objects": [3, 5]}, {"objects": [1, 2]}, {"misplaced": [4, 12]}])
def test_no_more_things_are_misplaced_than_there_are(settings: dict[str, list[int]]) -> None:
    with pytest.raises(UserError, match=r"exceeds objects.*lower misplaced or raise objects"):
        house_settings(settings=settings)
