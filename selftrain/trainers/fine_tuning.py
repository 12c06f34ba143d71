"""Uploads examples to a fine-tuning API, starts a job and follows it to its end, each of them once."""

from __future__ import annotations

import hashlib
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from openai import OpenAI
from openai.types.fine_tuning import FineTuningJob
from pydantic import BaseModel, ConfigDict, ValidationError

from housewise.core.console import print_note
from housewise.core.errors import UserError
from housewise.core.files import read_bytes, write_json, write_text
from housewise.core.text_files import read_text
from housewise.language.control_tokens import break_turns
from housewise.language.server.responses import token_count
from housewise.language.server.status_errors import is_fine_tuned
from housewise.selftrain.datasets import Prompted
from housewise.selftrain.personalize.settings import TrainingConfig
from housewise.selftrain.trainers.api_client import MOST_TRIES, ApiClient, each_once
from housewise.selftrain.trainers.base import ModelReference, Progress, TrainedModel, check_finished_training
from housewise.selftrain.trainers.selection import ExclusionReason, exclude

FEWEST = 10
"""Examples that the API asks for."""

_LABEL = "housewise"
_LARGEST_LOSS = 1e9
_PAGE = 100

# What servers say of files; OpenAI's own are uploaded, processed and error.
_UNPROCESSED = ("uploaded", "pending", "running", "processing", "queued")
_BROKEN = ("error", "failed", "deleted")

_T = TypeVar("_T")
E = TypeVar("E", bound=Prompted)
Turn = dict[str, str]


class _Submitted(BaseModel):
    """What ``job.json`` remembers of a job, so that it is followed and not paid for again.

    Attributes:
        digest: of what is learned, and how.
        file: the server's name of the uploaded examples; None until they are uploaded.
        job: the server's name of the job; None until it is started.
    """

    model_config = ConfigDict(extra="forbid")

    digest: str
    file: str | None = None
    job: str | None = None


class FineTuning(ABC, Generic[E]):
    """Uploads examples, starts a fine-tuning job and follows it to its end.

    The folder then holds ``training.jsonl`` (what was uploaded), ``job.json``, ``curve.csv`` where the server tells
    losses, and ``model.json`` with the fine-tuned model's name. Stopped at any time, it goes on with the same file and
    the same job when it is called again.

    Args:
        config: how often the examples are read, and how often the job is looked at; the rest is for local training.
        seed: of the job.
        base_url: of the server; by default ``$OPENAI_BASE_URL``, then OpenAI's.
        progress: told of the job's state, and what is waited for.
        wait: sleeps for so many seconds.

    Attributes:
        kind: what an example is called.
    """

    kind: ClassVar[str]

    def __init__(
        self,
        config: TrainingConfig,
        seed: int = 0,
        base_url: str | None = None,
        progress: Progress | None = None,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self.config, self.seed = config, seed
        self._progress = progress or (lambda done, total, words: None)
        self._wait = wait
        self._base_url = base_url

    @abstractmethod
    def method(self, epochs: int) -> dict[str, Any]:
        """How the job is to learn, as the API takes it.

        Args:
            epochs: how often the examples are read.
        """

    @abstractmethod
    def replies(self, example: E) -> tuple[str, ...]:
        """What may come after the prefix of an example."""

    @abstractmethod
    def line(self, example: E, said: Sequence[Turn]) -> dict[str, Any]:
        """An example as the API takes it.

        Args:
            example: what is learned.
            said: its replies as the assistant's turns, with the prefix.
        """

    def unfit(self, example: E) -> ExclusionReason | None:
        """Give the reason to leave an example out, None where there is none."""
        return None

    def lines(self, examples: Sequence[E]) -> str:
        """Examples as the API takes them, one a line.

        Raises:
            UserError: when the API would refuse them.
        """
        if len(examples) < FEWEST:
            raise UserError(
                f"{len(examples)} {self.kind}s are too few: a fine-tuning API asks for {FEWEST}; play more tasks or "
                "runs"
            )
        lines = []
        for number, example in enumerate(examples, start=1):
            said = [{"role": "assistant", "content": f"{example.prefix}{reply}"} for reply in self.replies(example)]
            told = [turn.get("content", "").strip() for turn in (*example.prompt, *said)]
            if not example.prompt or not all(told):
                raise UserError(f"{self.kind} {number} has an empty prompt or reply; leave it out")
            sent = example.model_copy(update={"prompt": tuple(break_turns(example.prompt))})
            lines.append(json.dumps(self.line(sent, break_turns(said))))
        return "\n".join(lines) + "\n"

    @cached_property
    def _client(self) -> ApiClient:
        return ApiClient(
            self._base_url, self.config.poll_seconds, self._wait, lambda words: self._progress(0, 1, words)
        )

    @property
    def _api(self) -> OpenAI:
        return self._client.api

    def check(self, start: ModelReference) -> None:
        """See Trainer.check."""
        if start.adapter is not None or start.model.partition(":")[0] == "local":
            raise UserError(f"model {start.model}: a fine-tuning API cannot train local models; see training.trainer")
        _ = self._client

    def train(self, examples: Sequence[E], start: ModelReference, folder: Path) -> TrainedModel:
        """See Trainer.train."""
        learned, notes = exclude(examples, self.unfit, self.kind)
        lines, how = self.lines(learned), json.dumps(self._method(), sort_keys=True)
        digest = hashlib.sha256(f"{start.model}\n{how}\n{self.seed}\n{lines}".encode()).hexdigest()
        finished = TrainedModel.load(folder)
        if finished is not None:
            check_finished_training(folder, finished, start, self._changes(folder / "job.json", digest))
            return finished
        self.check(start)
        for note in notes:
            print_note(note)
        write_text(folder / "training.jsonl", lines)
        job = self._follow(self._submit(folder, start, digest, len(learned)), folder)
        write_text(folder / "curve.csv", self._curve(job.id))
        metrics = {"pairs": float(len(learned)), "tokens": float(token_count(job.trained_tokens))}
        return TrainedModel(model=job.fine_tuned_model or "", metrics=metrics, notes=notes).save(folder)

    def _changes(self, path: Path, digest: str) -> list[str] | None:
        """What differs from a job that is over; None where its file does not tell."""
        try:
            earlier = _Submitted.model_validate_json(read_text(path))
        except (UserError, ValidationError):
            return None
        return [] if earlier.digest == digest else [f"{self.kind}s, model, seed or settings"]

    def _submit(self, folder: Path, start: ModelReference, digest: str, examples: int) -> str:
        """The job for this training: the one that was started before, or a new one.

        ``job.json`` is written before each step that leaves something at the server, so that a process that was killed
        there is known to have begun it.
        """
        path, data = folder / "job.json", folder / "training.jsonl"
        size = data.stat().st_size
        too_large = {413: f"{data} has {size:,} bytes and {examples} {self.kind}s; learn from fewer or shorter ones"}
        earlier = self._earlier(path, digest)
        state = earlier or _Submitted(digest=digest)
        if state.job is not None:
            return state.job
        job = self._find_job(state)
        if job is None:
            write_json(path, state.model_dump())
            if state.file is None:
                state.file = (self._find_file(digest) if earlier else None) or self._upload(data, digest, too_large)
                write_json(path, state.model_dump())
            self._await_file(state.file, path)
            job = self._start(state, start.model, path, too_large)
        state.job = job
        write_json(path, state.model_dump())
        return job

    def _earlier(self, path: Path, digest: str) -> _Submitted | None:
        """What was begun for this training; None for nothing.

        Raises:
            UserError: when the folder has a job for another one.
        """
        if not path.exists():
            return None
        try:
            earlier = _Submitted.model_validate_json(read_text(path))
        except (UserError, ValidationError) as error:
            raise UserError(f"{path}: does not name a fine-tuning job; delete it to start another") from error
        if earlier.digest == digest:
            return earlier
        if earlier.job or self._find_job(earlier):
            raise UserError(f"{path}: its job learns something else or otherwise; delete it to start another")
        return None

    def _find_job(self, state: _Submitted) -> str | None:
        """The job of this training at the server, unless it came to nothing; servers may not return metadata."""

        def search() -> str | None:
            for job in each_once(self._api.fine_tuning.jobs.list(limit=_PAGE)):
                label = job.metadata.get(_LABEL) if isinstance(job.metadata, dict) else None
                is_same_file = label is None and state.file is not None and job.training_file == state.file
                if job.status not in ("failed", "cancelled") and (label == state.digest or is_same_file):
                    return job.id
            return None

        return self._client.ask(search)

    def _start(self, state: _Submitted, model: str, path: Path, too_large: Mapping[int, str]) -> str:
        assert state.file is not None
        file = state.file
        advice = (
            "check the model's name, the account and that the server offers fine-tuning, and run the same command "
            f"again; where the server no longer has the file, delete {path} first"
        )
        return self._client.make(
            lambda: (
                _named(
                    self._api.fine_tuning.jobs.create(
                        model=model,
                        training_file=file,
                        seed=self.seed,
                        metadata={_LABEL: state.digest},
                        method=self._method(),
                    )
                ).id
            ),
            lambda: self._find_job(state),
            is_new=is_fine_tuned(model),
            advice={400: advice, 404: advice, **too_large},
        )

    def _upload(self, data: Path, digest: str, too_large: Mapping[int, str]) -> str:
        content = read_bytes(data)
        return self._client.make(
            lambda: _named(self._api.files.create(file=(_file_name(digest), content), purpose="fine-tune")).id,
            lambda: self._find_file(digest),
            advice=too_large,
        )

    def _find_file(self, digest: str) -> str | None:
        """The file of this training at the server; None also where the server lists none."""

        def search() -> str | None:
            for file in each_once(self._api.files.list(purpose="fine-tune", limit=_PAGE)):
                if file.filename == _file_name(digest) and file.status not in _BROKEN:
                    return file.id
            return None

        try:
            return self._client.ask(search)
        except UserError:
            # A second copy of a file costs nothing.
            return None

    def _await_file(self, name: str, path: Path) -> None:
        for _ in range(MOST_TRIES):
            try:
                file = self._client.ask(lambda: _named(self._api.files.retrieve(name)))
            except UserError:
                # Not all servers offer this; whether the job can be started says the server then.
                return
            if file.status in _BROKEN:
                why = self._client.excerpt(file.status_details or "no reason given")
                raise UserError(
                    f"file {name}: the server calls it {file.status} ({why}); delete {path} to upload it again"
                )
            if file.status not in _UNPROCESSED:
                return
            self._progress(0, 1, f"{name} {file.status}")
            self._wait(self.config.poll_seconds)
        raise UserError(f"file {name} is not processed yet; run the same command again to look again")

    def _method(self) -> Any:
        return self.method(max(round(self.config.epochs), 1))

    def _follow(self, name: str, folder: Path) -> FineTuningJob:
        nameless = 0
        while True:
            job = self._client.ask(lambda: _named(self._api.fine_tuning.jobs.retrieve(name)), is_new=True)
            self._progress(0, 1, f"{name} {job.status}")
            if job.status == "succeeded" and isinstance(job.fine_tuned_model, str) and job.fine_tuned_model:
                return job
            if job.status in ("failed", "cancelled"):
                # Servers other than OpenAI's may tell it without its parts.
                told = getattr(job.error, "message", job.error) or "no reason given"
                raise UserError(
                    f"fine-tuning job {name} has {job.status} ({self._client.excerpt(told)}) and left no model; mend "
                    f"what it says and delete {folder / 'job.json'} to start another"
                )
            nameless += job.status == "succeeded"
            if nameless >= MOST_TRIES:
                raise UserError(
                    f"fine-tuning job {name} has succeeded, but its model has no name yet; run the same command again "
                    "to look again, which starts no other job"
                )
            self._wait(self.config.poll_seconds)

    def _curve(self, name: str) -> str:
        """The losses that the job told of as CSV; none where the server does not tell them."""
        try:
            events = self._client.ask(
                lambda: list(each_once(self._api.fine_tuning.jobs.list_events(name, limit=_PAGE)))
            )
        except UserError:
            # What was learned is there without them.
            events = []
        told = [event.data for event in events if event.type == "metrics" and isinstance(event.data, dict)]
        pairs = [(token_count(row.get("step")), row.get("train_loss")) for row in told]
        known = [(step, loss) for step, loss in pairs if isinstance(loss, int | float) and abs(loss) < _LARGEST_LOSS]
        rows = sorted((step, float(loss)) for step, loss in known)
        return "".join(["step,loss\n", *(f"{step},{loss}\n" for step, loss in rows)])


def _file_name(digest: str) -> str:
    """What a training's file is called at the server, where it is found by its name."""
    return f"{_LABEL}-{digest}.jsonl"


def _named(answer: _T) -> _T:
    """An answer about a file or a job; the library takes anything, such as the page of a proxy, for one.

    Raises:
        TypeError: when it names none.
    """
    if not isinstance(getattr(answer, "id", None), str):
        raise TypeError("the answer names no file or job")
    return answer
