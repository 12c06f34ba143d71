"""Episodes that could not be played to their end: what of it concerns them alone, and what is kept of them."""

from __future__ import annotations

import errno
import os
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from housewise.core.error_origin import describe_error, describe_frame, user_frame
from housewise.core.errors import DataError, SimulatorError, UserCodeError, UserError
from housewise.core.files import find_paths, read_bytes
from housewise.core.record import FAILED, Failure, Header, read_lines
from housewise.core.urls import redact_secrets
from housewise.language.base import RequestError
from housewise.rollout.record_reader import read_header

_ROOT = Path(__file__).parents[1]
_LONGEST = 500
_MOST_FRAMES = 30
_MOST_REASONS = 3
# What the whole machine is short of.
_SCARCE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EROFS})


@dataclass(frozen=True)
class FailedEpisode:
    """What is known of an episode that failed.

    Attributes:
        name: of its record.
        failure: what happened.
        header: what was set, None where the episode did not come to that.
        path: of its record.
    """

    name: str
    failure: Failure
    header: Header | None
    path: Path

    @property
    def reason(self) -> str:
        """The same for all episodes that fail alike."""
        return self.failure.reason


class RunEndedError(UserError):
    """A run has ended, and not all of its episodes are finished; the same command goes on with it.

    Args:
        message: one line.
        figures: of the finished episodes, as in ``metrics.json``.
    """

    def __init__(self, message: str, figures: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.figures = figures or {}


class FailedEpisodesError(RunEndedError):
    """Some episodes of a run failed; the others have been played.

    Args:
        message: one line.
        figures: of the others, as in ``metrics.json``.
        share: of the run's episodes that failed.
    """

    exit_code = 3
    is_summary = True

    def __init__(self, message: str, figures: dict[str, Any], share: float) -> None:
        super().__init__(message, figures)
        self.share = share

    @classmethod
    def of(cls, failed: Sequence[FailedEpisode], episodes: int, figures: dict[str, Any]) -> FailedEpisodesError:
        """The error for episodes that failed.

        Args:
            failed: one or more of them.
            episodes: of the run in all.
            figures: of the others.
        """
        counted = Counter(each.reason for each in failed).most_common()
        told = [f"{count} x {_truncate(reason)}" for reason, count in counted[:_MOST_REASONS]]
        more = [f"{len(counted) - _MOST_REASONS} other reasons"] if len(counted) > _MOST_REASONS else []
        return cls(
            f"{len(failed)} of {episodes} episodes failed: {'; '.join(told + more)}; see "
            f"{failed[0].path.parent / f'*{FAILED}'}; the same command tries them again",
            figures,
            len(failed) / episodes,
        )


def failure_from_error(error: Exception) -> Failure:
    """What is recorded of an error that ended an episode.

    Data that is wrong, a request that is refused, a simulator that ends and what a user's own code returns concern one
    episode, and so does a defect that it brings to light. Anything else that a user can do something about concerns all
    of them.

    Raises:
        UserError: when it concerns the run.
    """
    if isinstance(error, DataError | RequestError | SimulatorError | UserCodeError):
        reason = error.reason if isinstance(error, RequestError) else str(error)
        return Failure(reason=_clean(reason), error=_clean(str(error)))
    if isinstance(error, UserError):
        raise error
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _SCARCE):
        short = "memory" if isinstance(error, MemoryError) else error.strerror
        raise UserError(
            f"the machine is short of something ({short}); make room or lower --workers, and run the same command "
            "again: finished episodes are kept"
        ) from error
    return Failure(
        reason=_clean(f"{type(error).__name__} in {_error_location(error)}"),
        error=_clean(describe_error(error)),
        traceback=redact_secrets("".join(traceback.format_exception(error, limit=-_MOST_FRAMES))),
    )


def _error_location(error: Exception) -> str:
    """Where a defect showed: in code of the user's own where that took part, else in ours."""
    if (frame := user_frame(error)) is not None:
        return describe_frame(frame)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(_ROOT)] or list(frames)
    if not own:
        return "an unknown place"
    return f"{own[-1].name} ({os.path.relpath(own[-1].filename, _ROOT)}:{own[-1].lineno})"


def read_failures(folder: Path) -> list[FailedEpisode]:
    """The failed episodes of a folder of records, by name; of a damaged file it is only known that it is one."""
    return [_read(path) for path in find_paths(folder, f"*{FAILED}")]


def _read(path: Path) -> FailedEpisode:
    name = path.name.removesuffix(FAILED)
    try:
        lines = read_bytes(path).strip().split(b"\n")
        failure = Failure.model_validate(read_lines(path, lines[-1:])[0].data)
    except (OSError, UserError, ValidationError):
        lines, failure = [b""], Failure(reason="its record is damaged", error=f"{path}: cannot be read")
    return FailedEpisode(name, failure, read_header(path, lines[0]), path)


def _clean(text: str) -> str:
    """One line that can be shown."""
    return _truncate(" ".join(redact_secrets(text).split()))


def _truncate(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
