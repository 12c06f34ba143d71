"""Equal values keep their order in every sort; NumPy's faster sorts order them by the processor's instructions."""

import ast
from pathlib import Path

import pytest

import housewise

PACKAGE = Path(housewise.__file__).parent
FOLDERS = (PACKAGE, *(PACKAGE.parent / name for name in ("agent", "controller", "experiments", "selftrain")))


def unstable_sorts(code: str) -> list[int]:
    """Return the lines that sort or select indices without keeping the order of equal values."""
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    named = [(call, call.func.attr) for call in calls if isinstance(call.func, ast.Attribute)]
    return [
        call.lineno
        for call, name in named
        if name == "argpartition"
        or (name == "argsort" and not any(keyword.arg in ("kind", "stable") for keyword in call.keywords))
    ]


@pytest.mark.parametrize(("code", "lines"), [("np.argsort(a)", [1]), ("a.argsort(kind='stable')", [])])
def test_unstable_sorts_are_found(code: str, lines: list[int]) -> None:
    assert unstable_sorts(code) == lines


def test_every_sort_is_stable() -> None:
    files = {path.resolve() for folder in FOLDERS for path in folder.rglob("*.py")}
    found = {str(path): lines for path in files if (lines := unstable_sorts(path.read_text(encoding="utf-8")))}
    assert len(files) > 300 and not found
