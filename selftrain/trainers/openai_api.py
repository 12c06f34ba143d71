"""Trains a model behind OpenAI's fine-tuning API, or another server that speaks it: with pairs, or with preferences."""

from __future__ import annotations

import hashlib
import json
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar
from urllib.parse import urlsplit

import openai
from openai.types.fine_tuning import FineTuningJob
from pydantic import BaseModel, ConfigDict, ValidationError

from housewise.core.address import concealed, is_loopback, redacted, secrets, without_passwords
from housewise.core.console import print_note
from housewise.core.errors import UserError
from housewise.core.files import write_json, write_text
from housewise.core.reading import read_text
from housewise.language.control_tokens import break_turns
from housewise.language.server.answer import count
from housewise.language.server.connection import setup_problem
from housewise.selftrain.datasets import Prompted
from housewise.selftrain.personalize.pairs import Pair
from housewise.selftrain.personalize.settings import PreferenceConfig, TrainingConfig
from housewise.selftrain.preferences import Preference
from housewise.selftrain.trainers.base import Progress, Start, TrainedModel, refuse_finished
from housewise.selftrain.trainers.selection import CUT, SAME_REPLIES, LeftOut, select

FEWEST = 10
"""Examples that the API asks for."""

_LABEL = "housewise"
_RETRIES = 5
_LARGEST_LOSS = 1e9

_T = TypeVar("_T")
E = TypeVar("E", bound=Prompted)
Turn = dict[str, str]


class _Submitted(BaseModel):
    """What ``job.json`` remembers of a job, so that it is followed and not paid for again."""

    model_config = ConfigDict(extra="forbid")

    job: str
    digest: str


class FineTuning(ABC, Generic[E]):
    """Uploads examples, starts a fine-tuning job and follows it to its end.

    The folder then holds ``training.jsonl`` (what was uploaded), ``job.json``, ``curve.csv`` where the server tells
    losses, and ``model.json`` with the fine-tuned model's name. Stopped while the job runs, it follows the same job
    when it is called again.

    Args:
        config: how often the examples are read, and how often the job is looked at; the rest is for local training.
        seed: of the job.
        base_url: of the server; by default ``$OPENAI_BASE_URL``, then OpenAI's.
        progress: told of the job's state.
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

    def unfit(self, example: E) -> LeftOut | None:
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
    def _client(self) -> openai.OpenAI:
        return _client(self._base_url)

    def check(self, start: Start) -> None:
        """See Trainer.check."""
        if start.adapter is not None or start.model.partition(":")[0] == "local":
            raise UserError(f"model {start.model}: a fine-tuning API cannot train local models; see training.trainer")
        _ = self._client

    def train(self, examples: Sequence[E], start: Start, folder: Path) -> TrainedModel:
        """See Trainer.train."""
        learned, notes = select(examples, self.unfit, self.kind)
        lines, how = self.lines(learned), json.dumps(self._method(), sort_keys=True)
        digest = hashlib.sha256(f"{start.model}\n{how}\n{self.seed}\n{lines}".encode()).hexdigest()
        finished = TrainedModel.load(folder)
        if finished is not None:
            refuse_finished(folder, finished, start, self._changes(folder / "job.json", digest))
            return finished
        self.check(start)
        for note in notes:
            print_note(note)
        write_text(folder / "training.jsonl", lines)
        job = self._follow(self._submitted(folder, start, digest), folder)
        write_text(folder / "curve.csv", self._curve(job.id))
        metrics = {"pairs": float(len(learned)), "tokens": float(count(job.trained_tokens))}
        return TrainedModel(model=job.fine_tuned_model or "", metrics=metrics, notes=notes).save(folder)

    def _changes(self, path: Path, digest: str) -> list[str] | None:
        """What differs from a job that is over; None where its file does not tell."""
        try:
            earlier = _Submitted.model_validate_json(read_text(path))
        except (UserError, ValidationError):
            return None
        return [] if earlier.digest == digest else [f"{self.kind}s, model, seed or settings"]

    def _submitted(self, folder: Path, start: Start, digest: str) -> str:
        """The job for this training: the one that was started before, or a new one."""
        path = folder / "job.json"
        if path.exists():
            try:
                earlier = _Submitted.model_validate_json(read_text(path))
            except (UserError, ValidationError) as error:
                raise UserError(f"{path}: does not name a fine-tuning job; delete it to start another") from error
            if earlier.digest == digest:
                return earlier.job
            raise UserError(f"{path}: its job learns something else or otherwise; delete it to start another")
        # A process that was killed after starting a job may not have written its name.
        job = self._started(digest) or self._start(folder / "training.jsonl", start.model, digest)
        write_json(path, _Submitted(job=job, digest=digest).model_dump())
        return job

    def _started(self, digest: str) -> str | None:
        jobs = self._ask(lambda: self._client.fine_tuning.jobs.list(limit=20).data)
        going = (job for job in jobs if job.status not in ("failed", "cancelled"))
        return next((job.id for job in going if (job.metadata or {}).get(_LABEL) == digest), None)

    def _start(self, data: Path, model: str, digest: str) -> str:
        uploaded = self._ask(lambda: self._client.files.create(file=data, purpose="fine-tune"))
        job = self._ask(
            lambda: self._client.fine_tuning.jobs.create(
                model=model,
                training_file=uploaded.id,
                seed=self.seed,
                metadata={_LABEL: digest},
                method=self._method(),
            )
        )
        return job.id

    def _method(self) -> Any:
        return self.method(max(round(self.config.epochs), 1))

    def _follow(self, name: str, folder: Path) -> FineTuningJob:
        while True:
            job = self._ask(lambda: self._client.fine_tuning.jobs.retrieve(name))
            self._progress(0, 1, f"{name} {job.status}")
            if job.status == "succeeded" and job.fine_tuned_model:
                return job
            if job.status in ("failed", "cancelled", "succeeded"):
                told = " ".join((job.error.message if job.error and job.error.message else "no reason given").split())
                raise UserError(
                    f"fine-tuning job {name} has {job.status} ({told}) and left no model; mend what it says and delete "
                    f"{folder / 'job.json'} to start another"
                )
            self._wait(self.config.poll_seconds)

    def _curve(self, name: str) -> str:
        """The losses that the job told of as CSV."""
        events = self._ask(lambda: list(self._client.fine_tuning.jobs.list_events(name, limit=100)))
        told = [event.data for event in events if event.type == "metrics" and isinstance(event.data, dict)]
        pairs = [(count(row.get("step")), row.get("train_loss")) for row in told]
        known = [(step, loss) for step, loss in pairs if isinstance(loss, int | float) and abs(loss) < _LARGEST_LOSS]
        rows = sorted((step, float(loss)) for step, loss in known)
        return "".join(["step,loss\n", *(f"{step},{loss}\n" for step, loss in rows)])

    def _ask(self, question: Callable[[], _T]) -> _T:
        """A call to the server, tried again by the library where that can help."""
        where = urlsplit(str(self._client.base_url)).hostname
        try:
            return question()
        except openai.AuthenticationError:
            raise UserError(f"{where}: refuses the API key; set OPENAI_API_KEY to a valid one") from None
        except openai.APIStatusError as error:
            told = error.body.get("message") if isinstance(error.body, dict) else None
            raise UserError(
                f"{where}: answered {error.status_code} ({self._excerpt(told or error.body)}); check the model's name, "
                "the account and that the server offers fine-tuning, and run the same command again"
            ) from None
        except Exception as error:  # the library's, and those of what it makes of an answer
            raise UserError(
                f"{where}: {type(error).__name__} ({self._excerpt(error)}); check the network and base_url, and run "
                "the same command again"
            ) from None

    def _excerpt(self, told: object) -> str:
        """A line of what a server or the library says, without what is secret."""
        line = concealed(" ".join(str(told).split()), secrets(self._client.api_key, str(self._client.base_url)))
        return without_passwords(line)[:200]


class OpenAITrainer(FineTuning[Pair]):
    """Learns replies; see Trainer and FineTuning."""

    kind = "pair"

    def method(self, epochs: int) -> dict[str, Any]:
        """See FineTuning.method."""
        return {"type": "supervised", "supervised": {"hyperparameters": {"n_epochs": epochs}}}

    def replies(self, example: Pair) -> tuple[str, ...]:
        """See FineTuning.replies."""
        return (example.reply,)

    def unfit(self, example: Pair) -> LeftOut | None:
        """See FineTuning.unfit: the API puts the end of a turn behind every reply."""
        return CUT if example.cut else None

    def line(self, example: Pair, said: Sequence[Turn]) -> dict[str, Any]:
        """See FineTuning.line: a conversation."""
        # The API learns all that the assistant says, unless it is told otherwise.
        silent = {} if example.turns else {"weight": 0}
        prompt = [{**turn, **silent} if turn["role"] == "assistant" else turn for turn in example.prompt]
        return {"messages": [*prompt, *said]}


class OpenAIPreferenceTrainer(FineTuning[Preference]):
    """Learns preferences by DPO, with the model that the job starts from as the reference; see FineTuning.

    Args:
        config: also what it costs to differ from the reference (``beta``).
        seed, base_url, progress, wait: see FineTuning.
    """

    kind = "preference"

    def __init__(self, config: PreferenceConfig, *args: Any, **kwargs: Any) -> None:
        super().__init__(config, *args, **kwargs)
        self._beta = config.beta

    def method(self, epochs: int) -> dict[str, Any]:
        """See FineTuning.method."""
        return {"type": "dpo", "dpo": {"hyperparameters": {"beta": self._beta, "n_epochs": epochs}}}

    def replies(self, example: Preference) -> tuple[str, ...]:
        """See FineTuning.replies."""
        return example.chosen, example.rejected

    def unfit(self, example: Preference) -> LeftOut | None:
        """See FineTuning.unfit."""
        return SAME_REPLIES if example.chosen == example.rejected else None

    def line(self, example: Preference, said: Sequence[Turn]) -> dict[str, Any]:
        """See FineTuning.line: a conversation, and the better and the worse way to go on with it."""
        chosen, rejected = said
        return {
            "input": {"messages": list(example.prompt)},
            "preferred_output": [chosen],
            "non_preferred_output": [rejected],
        }


def _client(base_url: str | None) -> openai.OpenAI:
    address = base_url or os.environ.get("OPENAI_BASE_URL")
    key = os.environ.get("OPENAI_API_KEY") or ("none" if address else "")
    if not key:
        raise UserError("there is no API key; set OPENAI_API_KEY, or give base_url for a server of your own")
    try:
        direct = openai.DefaultHttpxClient(trust_env=False) if address and is_loopback(address) else None
        return openai.OpenAI(base_url=address, api_key=key, max_retries=_RETRIES, http_client=direct)
    except Exception as error:  # the HTTP library's many
        what, remedy = setup_problem(error)
        raise UserError(f"base_url {redacted(address or '')}: {what}; {remedy}, as in http://host:port/v1") from None
