"""What the demo shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from housewise import demo
from housewise.language.adapters import packaged_adapters
from housewise.systems.personalize.settings import house_settings


def test_every_adapter_that_comes_along_is_shown_between_the_possible_and_the_untrained(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        demo, "packaged_adapters", lambda system: {"neat": Path("neat")} if system == "personalize" else {}
    )
    shown = demo.planners()
    assert list(shown) == ["scripted", "trained (neat)", "untrained"]
    assert shown["trained (neat)"]["adapter"] == "neat"


def test_the_settings_fit() -> None:
    for settings in demo.planners().values():
        config = house_settings(settings=settings)
        adapter = config.models.agent.adapter
        assert adapter is None or adapter in packaged_adapters()
