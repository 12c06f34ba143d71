"""Progress of long work where the output goes to a file."""

import io

from rich.console import Console

from housewise.core.progress import progress_bars


class _Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_file_gets_a_line_a_minute_with_the_time_left() -> None:
    clock, file = _Clock(), io.StringIO()
    with progress_bars(Console(file=file, get_time=clock)) as progress:
        whole = progress.add_task("training", total=None)
        # A resumed training: its first 20 steps say nothing about the speed.
        for step in range(21, 33):
            clock.now += 20
            progress.update(whole, completed=step, total=100, description=f"training [loss {step}]")
    assert file.getvalue().splitlines() == [
        "training [loss 23]: 23 of 100, 25 min left",
        "training [loss 26]: 26 of 100, 25 min left",
        "training [loss 29]: 29 of 100, 25 min left",
        "training [loss 32]: 32 of 100, 25 min left",
    ]


def test_lines_tell_of_the_whole_and_not_of_its_parts() -> None:
    clock, file = _Clock(), io.StringIO()
    with progress_bars(Console(file=file, get_time=clock)) as progress:
        whole = progress.add_task("episodes", total=4, completed=1)
        for name in ("first", "second"):
            part = progress.add_task(name, total=None)
            clock.now += 90
            progress.update(part, completed=3, total=10, description=f"{name} at step 3")
            progress.remove_task(part)
            progress.advance(whole)
        clock.now += 90
        progress.advance(whole)
    assert file.getvalue().splitlines() == ["episodes: 1 of 4", "episodes: 2 of 4"]


def test_short_and_hidden_work_prints_nothing_to_a_file() -> None:
    for seconds, shown in ((59, True), (600, False)):
        clock, file = _Clock(), io.StringIO()
        with progress_bars(Console(file=file, get_time=clock), shown) as progress:
            whole = progress.add_task("files", total=3)
            clock.now += seconds
            progress.advance(whole)
        assert file.getvalue() == ""


def test_a_terminal_shows_the_time_left_of_slow_work() -> None:
    clock, screen = _Clock(), io.StringIO()
    console = Console(file=screen, force_terminal=True, width=80, get_time=clock)
    with progress_bars(console) as progress:
        whole = progress.add_task("episodes", total=5)
        for _ in range(2):
            clock.now += 300
            progress.advance(whole)
            progress.refresh()
    # 3 episodes of 5 minutes.
    assert "0:15:00" in screen.getvalue()
