"""What is said while a progress display is shown."""

import io

from housewise.core.console import Console, print_event
from housewise.core.progress import progress_bars


def test_a_note_stands_above_a_progress_display_and_is_no_instruction() -> None:
    screen = io.StringIO()
    with progress_bars(Console(force_terminal=True, file=screen, width=60)) as progress:
        progress.add_task("episodes", total=3)
        print_event("[bold]busy[/]\x1b[31m; trying again")
    (line,) = [line for line in screen.getvalue().splitlines() if "note: " in line]
    # Its line is cleared first.
    assert line.endswith("\x1b[2Knote: [bold]busy[/]?[31m; trying again")
