"""Episodes that failed: which errors concern a single episode, and what is recorded of them."""

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
from housewise.core.record import Failure, Header
from housewise.core.record_files import FAILED, read_lines
from housewise.core.redaction import redact_secrets
from housewise.language.base import RequestError
from housewise.rollout.record_reader import read_header

_ROOT = Path(__file__).parents[1]
_LONGEST = 500
_MAX_FRAMES = 30
_MAX_REASONS = 3
# Errors of a machine without memory, disk space or file handles.
_SCARCE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EROFS})


@dataclass(frozen=True)
class FailedEpisode:
    """A failed episode of a run.

    Attributes:
        name: Name of its record.
        failure: Description of the failure.
        header: Header of the record, or None if the episode failed before it was written.
        path: Path of the record.
    """

    name: str
    failure: Failure
    header: Header | None
    path: Path

    @property
    def reason(self) -> str:
        """Short reason, equal for all episodes that fail alike."""
        return self.failure.reason


class RunEndedError(UserError):
    """A run ended before all of its episodes were finished. The same command resumes it.

    Args:
        message: One line.
        figures: Metrics of the finished episodes, as in `metrics.json`.
    """

    def __init__(self, message: str, figures: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.figures = figures or {}


class FailedEpisodesError(RunEndedError):
    """Some episodes of a run failed; all others were played.

    Args:
        message: One line.
        figures: Metrics of the finished episodes, as in `metrics.json`.
        share: Share of the run's episodes that failed, from 0 to 1.
    """

    exit_code = 3
    is_summary = True

    def __init__(self, message: str, figures: dict[str, Any], share: float) -> None:
        super().__init__(message, figures)
        self.share = share

    @classmethod
    def summarize(cls, failed: Sequence[FailedEpisode], episodes: int, figures: dict[str, Any]) -> FailedEpisodesError:
        """Return the error for failed episodes.

        Args:
            failed: Failed episodes, at least one.
            episodes: Number of episodes of the run.
            figures: Metrics of the finished episodes.
        """
        counted = Counter(each.reason for each in failed).most_common()
        told = [f"{count} x {_truncate(reason)}" for reason, count in counted[:_MAX_REASONS]]
        more = [f"{len(counted) - _MAX_REASONS} other reasons"] if len(counted) > _MAX_REASONS else []
        return cls(
            f"{len(failed)} of {episodes} episodes failed: {'; '.join(told + more)}; see "
            f"{failed[0].path.parent / f'*{FAILED}'}; run the same command again to retry them",
            figures,
            len(failed) / episodes,
        )


def failure_from_error(error: Exception) -> Failure:
    """Return the record line for an error that ended an episode.

    Invalid data, a refused request, a crashed simulator, wrong results of the user's own code and defects concern one
    episode. Any other problem that the user can fix concerns all of them.

    Raises:
        UserError: The error concerns the whole run.
    """
    if isinstance(error, DataError | RequestError | SimulatorError | UserCodeError):
        reason = error.reason if isinstance(error, RequestError) else str(error)
        return Failure(reason=_clean(reason), error=_clean(str(error)))
    if isinstance(error, UserError):
        raise error
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _SCARCE):
        short = "memory" if isinstance(error, MemoryError) else error.strerror
        raise UserError(
            f"this machine has run out of a resource ({short}); free some or lower --workers, and run the same command "
            "again: finished episodes are kept"
        ) from error
    return Failure(
        reason=_clean(f"{type(error).__name__} in {_error_location(error)}"),
        error=_clean(describe_error(error)),
        traceback=redact_secrets("".join(traceback.format_exception(error, limit=-_MAX_FRAMES))),
    )


def _error_location(error: Exception) -> str:
    """Return where a defect occurred: in the user's own code if that was running, else in ours."""
    if (frame := user_frame(error)) is not None:
        return describe_frame(frame)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(_ROOT)] or list(frames)
    if not own:
        return "unknown code"
    return f"{own[-1].name} ({os.path.relpath(own[-1].filename, _ROOT)}:{own[-1].lineno})"


def read_failures(folder: Path) -> list[FailedEpisode]:
    """Return the failed episodes of a folder of records, ordered by name."""
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
    """Return a text as one printable line without secrets."""
    return _truncate(" ".join(redact_secrets(text).split()))


def _truncate(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
