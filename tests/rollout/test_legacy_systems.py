"""Systems and views that were written for former names keep working, with a warning."""

import pytest

from housewise.core.record import Header
from housewise.report.views import base


def test_a_view_with_the_former_names_is_adapted(monkeypatch: pytest.MonkeyPatch) -> None:
    class Former:
        measure, standing = "done", ""

        def title(self, header: Header) -> str:
            return header.task

        def shown(self, *arguments: object) -> tuple[object, ...]:
            return arguments

    monkeypatch.setattr(base, "plugin_names", lambda group: ["former"])
    monkeypatch.setattr(base, "open_plugin", lambda *_, **__: Former())
    with pytest.warns(DeprecationWarning, match="make_content"):
        view = base.find_view("former")
    assert view.score_heading == "done"
    assert view.make_content(1, 2, 3, None, None) == (1, 2, 3, None, None)  # type: ignore[arg-type, comparison-overlap]
