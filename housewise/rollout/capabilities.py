"""Optional capabilities of systems. `System` inherits the defaults; a system overrides what it needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from housewise.core.record import Event, Record, Result
from housewise.core.record_files import RecordLine
from housewise.language.adapters import adapter_defaults
from housewise.rollout.episode import Job
from housewise.rollout.settings import RunSettings

S = TypeVar("S", bound=RunSettings)


class OptionalCapabilities(Generic[S]):
    """Models, memories, user files, checks and older records of a system.

    Attributes:
        name: Name in settings, records and entry points.
        settings: Settings of the run.
        events: Types of the events that its episodes record.
        reply_limit: Setting that limits the tokens of a reply.
        seconds_per_episode: Approximate seconds of an episode on two CPU cores, without a model and with the bundled
            one; None if unknown.
    """

    name: ClassVar[str]
    settings: S
    events: ClassVar[Sequence[type[Event]]] = ()
    reply_limit: ClassVar[str] = "models.agent.sampling.max_tokens"
    seconds_per_episode: ClassVar[tuple[float | None, float | None]] = (None, None)

    # Models.

    @property
    def roles(self) -> Sequence[str]:
        """Roles of the models that episodes ask."""
        return ("agent",)

    @property
    def reads_model_settings(self) -> bool:
        """Whether the agent reads settings that only a model needs: it asks one, has its replies, or is its control."""
        return bool(self.roles)

    @property
    def ignored_settings(self) -> Sequence[str]:
        """Dotted keys of settings without effect beside the others, as far as their marks do not say so."""
        return ()

    @property
    def lazy_models(self) -> bool:
        """Whether models are opened by their first request, because episodes may not need them."""
        return False

    @property
    def agent(self) -> str:
        """Name of the agent in records."""
        return self.name

    @property
    def expected_seconds(self) -> float | None:
        """Approximate seconds of an episode on two CPU cores, or None if its models have not been timed."""
        models = {getattr(self.settings.models, role).model for role in self.roles}
        without, bundled = self.seconds_per_episode
        return without if not models else bundled if models == {"local"} else None

    @property
    def max_requests(self) -> int | None:
        """Maximum number of requests to models in an episode, apart from repeated ones, or None if unknown."""
        return None

    def is_local(self, role: str) -> bool:
        """Return whether a role is played by a local model."""
        return role in self.roles and bool(getattr(self.settings.models, role).local)

    @classmethod
    def advice(cls, settings: Any) -> Mapping[str, Any]:
        """Return defaults that depend on other settings, such as those of an adapter, by section.

        Raises:
            ChatModelError: The adapter was trained for another system.
        """
        defaults = adapter_defaults(settings.models.agent.adapter, cls.name)
        return {"agent": defaults} if defaults else {}

    # People and their memories.

    @property
    def uses_memory(self) -> bool:
        """Whether episodes recall from a person's memory and add notes to it."""
        return False

    @property
    def interactive(self) -> bool:
        """Whether a user at the terminal is asked. No progress is printed then."""
        return False

    def respondents(self, job: Job) -> Sequence[str]:
        """Return the names of the person who reacts and answers in an episode. Notes are kept in their memory only.

        Empty if it is always the person whose memory is used.
        """
        return [job.task.person] if job.task.person else []

    def is_respondent(self, job: Job, name: str) -> bool:
        """Return whether the notes of an episode may be kept in somebody's memory; see `respondents`."""
        names = self.respondents(job)
        return not names or name in names

    # Checks, and what episodes need of this machine.

    def check(self) -> None:
        """Check the settings before anything is played.

        Raises:
            UserError: The settings cannot work; the message names the setting.
        """

    def check_start(self) -> None:
        """Check that this machine can play episodes, before the run's folder is created.

        Models are checked separately; see `rollout.models.check_models`.

        Raises:
            UserError: Something that episodes need is missing.
        """

    def files(self) -> dict[str, Path]:
        """Return the user's own files that episodes depend on, by setting. Copies are kept with the run."""
        return {}

    def job_data(self, job: Job) -> Any:
        """Return the picklable data that an episode needs from the machine on which the run was started."""
        return None

    def close(self) -> None:
        """Release what episodes have opened."""

    # Records.

    @property
    def replayed_events(self) -> Sequence[type[Event]]:
        """Types of events that a resumed episode takes from an interrupted attempt instead of asking again.

        Replies of local models must not be among them: a local model that is asked for part of an episode computes it
        in other steps, which round differently, and the episode would end otherwise than without an interruption.
        """
        return self.events

    @classmethod
    def upgrade_lines(cls, lines: Sequence[RecordLine]) -> Sequence[RecordLine]:
        """Return the lines of a record of version 1 in the form of version 2."""
        return lines

    @classmethod
    def add_missing_scores(cls, record: Record) -> Record:
        """Return a record with the scores that earlier versions did not write, computed from its events."""
        return record

    @classmethod
    def describe_ending(cls, result: Result) -> str:
        """Describe how an episode ended, in a few words."""
        steps, plans = result.scores["steps"], result.scores["plans"]
        return f"{result.end_reason} after {steps:.0f} steps and {plans:.0f} plans"

    @classmethod
    def task_key(cls, initial_state: Mapping[str, Any]) -> Any:
        """Return the part of an initial state that two episodes of the same task have in common."""
        return initial_state
