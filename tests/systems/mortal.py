"""The command line, killed when so many events have been recorded: ``python -m tests.systems.mortal EVENTS ...``."""

import os
import signal
import sys

from housewise.cli import main
from housewise.core.record import Event
from housewise.core.record_files import RecordWriter


def write_and_die(self: RecordWriter, event: Event) -> None:
    """Write an event; the last one is written by a program that dies of it. None are counted down from below 1."""
    global left
    write(self, event)
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    left, write = int(sys.argv.pop(1)), RecordWriter.write
    RecordWriter.write = write_and_die  # type: ignore[method-assign]
    main()
