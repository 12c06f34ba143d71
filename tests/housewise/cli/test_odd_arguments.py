"""Every command with words that mean nothing to it: it ends at once, in one line, or does what it can."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.in_process import call_housewise, leaf_commands

ODD = ("", "-1", "9" * 30, "1e400", "nan", "ä\u202e\u0430", "../x", "x" * 300, "[", "${oc.env:HOME}", "a\nb")
# What keeps a command from doing much, where its other words are fine.
SHORT = {
    "run": ("--houses", "1", "--planner", "scripted", "max_steps=1"),
    "selftrain": ("--model", "local:/nowhere", "--houses", "1"),
    "memory show": ("ada",),
    "memory add": ("ada", "no shoes"),
    "memory edit": ("ada", "abcdef"),
    "memory forget": ("ada", "abcdef"),
    "memory export": ("ada",),
    "memory import": ("ada", "nowhere.yaml"),
    "rules show": ("ada",),
    "rules edit": ("ada",),
    "report": ("nowhere",),
    "compare": ("nowhere", "nowhere"),
    "export": ("nowhere",),
    "replay": ("nowhere",),
}
# They take long, or need somebody who plays, whatever is said to them.
LONG = ("demo", "doctor", "play kitchen", "learn", "copy")


def lines() -> Iterator[tuple[str, ...]]:
    """Command lines: each option of each command with odd values, and options that there are not."""
    for name, command in leaf_commands().items():
        words = tuple(name.split())
        yield (*words, "--no-such-option=\x1b[31m")
        if name in LONG:
            continue
        options = [each for each in command.params if each.param_type_name == "option" and not each.is_flag]
        for number, option in enumerate(options):
            # One of them for each option, all of them for all.
            yield (*words, *SHORT.get(name, ()), option.opts[-1], ODD[(5 * number + 1) % len(ODD)])
        arguments = [each for each in command.params if each.param_type_name == "argument"]
        for value in ODD if arguments else ():
            yield (*words, *SHORT.get(name, ())[1:], *[value] * len(arguments))


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, in which nothing is remembered and no data are known."""
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOUSEWISE_MEMORY", str(tmp_path / "memories"))


@pytest.mark.parametrize("words", list(lines()), ids=lambda words: ascii(" ".join(words))[1:61])
def test_odd_words_end_in_a_line(words: tuple[str, ...]) -> None:
    done = call_housewise(*words)
    assert done.returncode in (0, 1, 2), done.stderr
    assert "Traceback" not in done.stderr and "\x1b[31m" not in done.stderr
    assert done.returncode == 0 or done.stderr.strip()
