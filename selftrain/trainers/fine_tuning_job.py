"""Trains with a fine-tuning API: uploads examples, starts a job and waits for its end, each of them once."""

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

from housewise.core.console import print_note
from housewise.core.errors import UserError
from housewise.core.files import read_bytes, write_json, write_text
from housewise.core.validation import StrictModel, read_model
from housewise.language.control_tokens import break_turns
from housewise.language.server.responses import token_count
from housewise.language.server.status_errors import is_fine_tuned
from housewise.selftrain.examples import Example
from housewise.selftrain.trainers.base import Progress, ignore_progress
from housewise.selftrain.trainers.exclusions import ExclusionReason, TooFewExamplesError, exclude
from housewise.selftrain.trainers.fine_tuning_client import MAX_TRIES, ApiClient, iterate_unique
from housewise.selftrain.trainers.settings import MIN_API_EXAMPLES, TrainingConfig
from housewise.selftrain.trainers.trained_model import ModelReference, TrainedModel, check_finished_training

_LABEL = "housewise"
_MAX_LOSS = 1e9
_PAGE = 100

# States of files at various servers; OpenAI's are uploaded, processed and error.
_PENDING_STATES = ("uploaded", "pending", "running", "processing", "queued")
_FAILED_STATES = ("error", "failed", "deleted")

_T = TypeVar("_T")
ExampleT = TypeVar("ExampleT", bound=Example)
Turn = dict[str, str]


class _Submission(StrictModel, frozen=False):
    """The content of ``job.json``: a job at the server, so that it is resumed and not paid for again.

    Attributes:
        digest: Digest of the examples, the model, the method and the seed.
        file: The server's name of the uploaded examples; None until they are uploaded.
        job: The server's name of the job; None until it is started.
    """

    digest: str
    file: str | None = None
    job: str | None = None


class FineTuningTrainer(ABC, Generic[ExampleT]):
    """Trains a model with a fine-tuning job of an API.

    The folder then has ``training.jsonl`` (the upload), ``job.json``, ``curve.csv`` where the server reports losses,
    and ``model.json`` with the name of the fine-tuned model. A training that was stopped resumes the same file and job.

    Args:
        config: Settings of the training: ``epochs`` and ``poll_seconds``. The others are for local trainings.
        seed: Seed of the job.
        base_url: Address of the server; ``$OPENAI_BASE_URL`` by default, or else OpenAI's.
        progress: Called with the state of the job, and with what is waited for.
        wait: Sleeps for a number of seconds.

    Attributes:
        noun: What one example is called in messages.
    """

    noun: ClassVar[str]

    def __init__(
        self,
        config: TrainingConfig,
        seed: int = 0,
        base_url: str | None = None,
        progress: Progress | None = None,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self.config, self.seed = config, seed
        self._progress = progress or ignore_progress
        self._wait = wait
        self._base_url = base_url

    @abstractmethod
    def job_method(self, epochs: int) -> dict[str, Any]:
        """Return the method of the job, as the API expects it.

        Args:
            epochs: Number of passes over the examples.
        """

    @abstractmethod
    def replies(self, example: ExampleT) -> tuple[str, ...]:
        """Return the texts after the prefix of an example."""

    @abstractmethod
    def format_example(self, example: ExampleT, replies: Sequence[Turn]) -> dict[str, Any]:
        """Return an example as the API expects it.

        Args:
            example: What is learned.
            replies: Its replies as messages of the assistant, each with the prefix.
        """

    def exclusion_reason(self, example: ExampleT) -> ExclusionReason | None:
        """Return the reason to leave an example out, or None to keep it."""
        return None

    def format_examples(self, examples: Sequence[ExampleT]) -> str:
        """Return examples as the API expects them, one a line.

        Raises:
            TooFewExamplesError: They are fewer than the API accepts.
            UserError: The API would refuse one of them.
        """
        if len(examples) < MIN_API_EXAMPLES:
            few = f"{len(examples)} {self.noun}{'s are' if len(examples) != 1 else ' is'} too few"
            raise TooFewExamplesError(
                f"{few}: a fine-tuning API asks for {MIN_API_EXAMPLES}", "play more tasks or runs in another folder"
            )
        lines = []
        for number, example in enumerate(examples, start=1):
            replies = [{"role": "assistant", "content": f"{example.prefix}{reply}"} for reply in self.replies(example)]
            contents = [turn.get("content", "").strip() for turn in (*example.prompt, *replies)]
            if not example.prompt or not all(contents):
                raise UserError(f"{self.noun} {number} has an empty prompt or reply; leave it out")
            sent = example.model_copy(update={"prompt": tuple(break_turns(example.prompt))})
            lines.append(json.dumps(self.format_example(sent, break_turns(replies))))
        return "\n".join(lines) + "\n"

    @cached_property
    def _client(self) -> ApiClient:
        return ApiClient(self._base_url, self.config.poll_seconds, self._wait, lambda line: self._progress(0, 1, line))

    @property
    def _api(self) -> OpenAI:
        return self._client.api

    def check(self, start: ModelReference) -> None:
        """See Trainer.check."""
        if start.adapter is not None or start.model.partition(":")[0] == "local":
            raise UserError(f"model {start.model}: a fine-tuning API cannot train local models; see training.trainer")
        _ = self._client

    def train(self, examples: Sequence[ExampleT], start: ModelReference, folder: Path) -> TrainedModel:
        """See Trainer.train."""
        learned, notes = exclude(examples, self.exclusion_reason, self.noun)
        if not self.config.epochs.is_integer():
            key, passes = self.config.key("epochs"), self._epochs
            notes = (*notes, f"{key}={self.config.epochs:g} is rounded to {passes}: the API makes whole passes")
        lines, how = self.format_examples(learned), json.dumps(self._method(), sort_keys=True)
        digest = hashlib.sha256(f"{start.model}\n{how}\n{self.seed}\n{lines}".encode()).hexdigest()
        finished = TrainedModel.load(folder)
        if finished is not None:
            check_finished_training(folder, finished, start, self._changed_parts(folder / "job.json", digest))
            return finished
        self.check(start)
        for note in notes:
            print_note(note)
        write_text(folder / "training.jsonl", lines)
        job = self._wait_for_job(self._submit(folder, start, digest, len(learned)), folder)
        write_text(folder / "curve.csv", self._download_curve(job.id))
        metrics = {"pairs": float(len(learned)), "tokens": float(token_count(job.trained_tokens))}
        return TrainedModel(model=job.fine_tuned_model or "", metrics=metrics, notes=notes).save(folder)

    def _changed_parts(self, path: Path, digest: str) -> list[str] | None:
        """Return what differs from a finished job; None where its file does not tell."""
        try:
            earlier = read_model(path, _Submission)
        except UserError:
            return None
        return [] if earlier.digest == digest else [f"{self.noun}s, model, seed or settings"]

    def _submit(self, folder: Path, start: ModelReference, digest: str, examples: int) -> str:
        """Return the job of this training: the one that was started before, or a new one.

        ``job.json`` is written before each step that creates something at the server, so that an interrupted step is
        known to have begun.
        """
        path, data = folder / "job.json", folder / "training.jsonl"
        size = data.stat().st_size
        too_large = {413: f"{data} has {size:,} bytes and {examples} {self.noun}s; learn from fewer or shorter ones"}
        earlier = self._load_submission(path, digest)
        state = earlier or _Submission(digest=digest)
        if state.job is not None:
            return state.job
        job = self._find_job(state)
        if job is None:
            write_json(path, state.model_dump())
            if state.file is None:
                state.file = (self._find_file(digest) if earlier else None) or self._upload(data, digest, too_large)
                write_json(path, state.model_dump())
            self._await_file(state.file, path)
            job = self._start_job(state, start.model, path, too_large)
        state.job = job
        write_json(path, state.model_dump())
        return job

    def _load_submission(self, path: Path, digest: str) -> _Submission | None:
        """Return what was begun for this training, or None.

        Raises:
            UserError: The folder has a job for another training.
        """
        if not path.exists():
            return None
        earlier = read_model(path, _Submission, "delete it to start another", "the description of a fine-tuning job")
        if earlier.digest == digest:
            return earlier
        if earlier.job or self._find_job(earlier):
            raise UserError(f"{path}: its job learns something else or otherwise; delete it to start another")
        return None

    def _find_job(self, state: _Submission) -> str | None:
        """Search the server for a job of this training that has not failed; servers may not return metadata."""

        def search() -> str | None:
            for job in iterate_unique(self._api.fine_tuning.jobs.list(limit=_PAGE)):
                label = job.metadata.get(_LABEL) if isinstance(job.metadata, dict) else None
                is_same_file = label is None and state.file is not None and job.training_file == state.file
                if job.status not in ("failed", "cancelled") and (label == state.digest or is_same_file):
                    return job.id
            return None

        return self._client.read(search)

    def _start_job(self, state: _Submission, model: str, path: Path, too_large: Mapping[int, str]) -> str:
        assert state.file is not None
        file = state.file
        advice = (
            "check the model's name, the account and that the server offers fine-tuning, and run the same command "
            f"again; where the server no longer has the file, delete {path} first"
        )
        return self._client.create(
            lambda: (
                _check_has_id(
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
        return self._client.create(
            lambda: _check_has_id(self._api.files.create(file=(_file_name(digest), content), purpose="fine-tune")).id,
            lambda: self._find_file(digest),
            advice=too_large,
        )

    def _find_file(self, digest: str) -> str | None:
        """Search the server for the file of this training; return None also where the server lists no files."""

        def search() -> str | None:
            for file in iterate_unique(self._api.files.list(purpose="fine-tune", limit=_PAGE)):
                if file.filename == _file_name(digest) and file.status not in _FAILED_STATES:
                    return file.id
            return None

        try:
            return self._client.read(search)
        except UserError:
            # A second copy of a file costs nothing.
            return None

    def _await_file(self, name: str, path: Path) -> None:
        for _ in range(MAX_TRIES):
            try:
                file = self._client.read(lambda: _check_has_id(self._api.files.retrieve(name)))
            except UserError:
                # Not all servers offer this; starting the job then shows whether the file is usable.
                return
            if file.status in _FAILED_STATES:
                why = self._client.excerpt(file.status_details or "no reason given")
                raise UserError(
                    f"file {name}: the server calls it {file.status} ({why}); delete {path} to upload it again"
                )
            if file.status not in _PENDING_STATES:
                return
            self._progress(0, 1, f"{name} {file.status}")
            self._wait(self.config.poll_seconds)
        raise UserError(f"file {name} is not processed yet; run the same command again to check again")

    def _method(self) -> Any:
        return self.job_method(self._epochs)

    @property
    def _epochs(self) -> int:
        return max(round(self.config.epochs), 1)

    def _wait_for_job(self, name: str, folder: Path) -> FineTuningJob:
        unnamed = 0
        while True:
            job = self._client.read(lambda: _check_has_id(self._api.fine_tuning.jobs.retrieve(name)), is_new=True)
            self._progress(0, 1, f"{name} {job.status}")
            if job.status == "succeeded" and isinstance(job.fine_tuned_model, str) and job.fine_tuned_model:
                return job
            if job.status in ("failed", "cancelled"):
                # Servers other than OpenAI's may send a plain text.
                reason = getattr(job.error, "message", job.error) or "no reason given"
                ended = "was cancelled" if job.status == "cancelled" else "has failed"
                raise UserError(
                    f"fine-tuning job {name} {ended} ({self._client.excerpt(reason)}) and left no model; fix "
                    f"the cause and delete {folder / 'job.json'} to start another"
                )
            unnamed += job.status == "succeeded"
            if unnamed >= MAX_TRIES:
                raise UserError(
                    f"fine-tuning job {name} has succeeded, but its model has no name yet; run the same command again "
                    "to check again, which starts no other job"
                )
            self._wait(self.config.poll_seconds)

    def _download_curve(self, name: str) -> str:
        """Return the losses that the server reports as CSV; only the header where it reports none."""
        try:
            events = self._client.read(
                lambda: list(iterate_unique(self._api.fine_tuning.jobs.list_events(name, limit=_PAGE)))
            )
        except UserError:
            # The model is complete without them.
            events = []
        entries = [event.data for event in events if event.type == "metrics" and isinstance(event.data, dict)]
        pairs = [(token_count(row.get("step")), row.get("train_loss")) for row in entries]
        known = [(step, loss) for step, loss in pairs if isinstance(loss, int | float) and abs(loss) < _MAX_LOSS]
        rows = sorted((step, float(loss)) for step, loss in known)
        return "".join(["step,loss\n", *(f"{step},{loss}\n" for step, loss in rows)])


def _file_name(digest: str) -> str:
    """Return the name of a training's file at the server, by which it is found again."""
    return f"{_LABEL}-{digest}.jsonl"


def _check_has_id(answer: _T) -> _T:
    """Return an answer about a file or a job. The library accepts any answer, such as the page of a proxy.

    Raises:
        TypeError: The answer has no id.
    """
    if not isinstance(getattr(answer, "id", None), str):
        raise TypeError("the answer names no file or job")
    return answer
