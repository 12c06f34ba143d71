"""Local models as actors of a Ray cluster, and the chat models through which episodes on its machines ask them."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

import ray
from ray.exceptions import GetTimeoutError, RayActorError, RayError, RayTaskError

from housewise.core.errors import UserError
from housewise.core.user_folders import expand_user
from housewise.language import ChatModel, ChatModelError, ChatRequest, Reply
from housewise.language.base import TokenLogprob
from housewise.language.completion import CompletionModel, DelegatingCompletionModel
from housewise.language.settings import ModelSettings
from housewise.rollout.models import first_roles

COORDINATOR = "desk"
"""Name of the actor on the driver's machine. Names are visible to the actors of one driver only."""

POLL_SECONDS = 0.5
"""Seconds between two checks for progress."""

# Seconds that an episode waits until a lost model has been restarted.
_TIMEOUT_SECONDS = 600.0
# Seconds in which a live model answers a heartbeat. An actor that waits for a free machine is neither live nor lost.
_HEARTBEAT_SECONDS = 20.0

FolderContent = Mapping[str, bytes]
"""Content of the files of a folder, by relative path."""

ModelOpener = Callable[[], ChatModel]


def start_models(
    chosen: Mapping[str, ModelSettings], workers: int, episodes: int
) -> tuple[dict[str, Any], dict[str, list[ModelOpener]]]:
    """Start the local models of a run and return functions that open the models of all roles on other machines.

    Roles with equal settings share one model, as in `rollout.models.open_models`.

    Args:
        chosen: Settings of the models by role.
        workers: Number of episodes that ask a model at the same time.
        episodes: Maximum number of runners.

    Returns:
        The started actors by name, which live as long as they are referenced, and the functions by role; runners take
        them in turn.

    Raises:
        UserError: A local model cannot be opened.
    """
    first = first_roles(chosen)
    local = [role for role, settings in chosen.items() if settings.local and first[role] == role]
    actors: dict[str, Any] = {}
    openers: dict[str, list[ModelOpener]] = {}
    for role, settings in chosen.items():
        if role in local:
            started = _start_actors(role, settings, episodes, len(local))
            actors |= started
            names = list(started)
            openers[role] = [partial(RemoteChatModel, names[first:] + names[:first]) for first in range(len(names))]
        elif first[role] != role:
            openers[role] = openers[first[role]]
        else:
            # Environment variables of this machine are not set on others.
            reached = settings.model_copy(update={"base_url": settings.base_url or os.environ.get("OPENAI_BASE_URL")})
            openers[role] = [partial(reached.open, workers, api_key=os.environ.get("OPENAI_API_KEY"))]
    return actors, openers


class RemoteChatModel:
    """Several actors of one model as a chat model. If the machine of one is lost, the next one is asked.

    Args:
        names: Names of the actors.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._actors = [ray.get_actor(name) for name in names]
        self.name: str = self._ask("name")

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        """See `ChatModel.complete`."""
        replies: list[list[Reply]] = self._ask("ask", "complete", list(requests))
        return replies

    def score(self, request: ChatRequest, continuations: Sequence[str]) -> list[float]:
        """See `Scorer.score`."""
        scores: list[float] = self._ask("ask", "score", request, list(continuations))
        return scores

    def score_tokens(self, request: ChatRequest, continuations: Sequence[str]) -> list[tuple[TokenLogprob, ...]]:
        """See `TokenScorer.score_tokens`."""
        scores: list[tuple[TokenLogprob, ...]] = self._ask("ask", "score_tokens", request, list(continuations))
        return scores

    def completion_model(self, seed: int) -> CompletionModel:
        """See `CompletesTexts.completion_model`."""
        return _RemoteCompletionModel(self.name, self._ask, seed)

    def close(self) -> None:
        """Do nothing: the actors are shared by all episodes."""

    def _ask(self, method: str, *args: Any) -> Any:
        end = 0.0
        while True:
            try:
                return self._answer(self._actors[0], method, args)
            except RayTaskError as error:
                raise_user_error(error)
            except (RayActorError, GetTimeoutError) as error:
                end = end or time.monotonic() + _TIMEOUT_SECONDS
                if time.monotonic() > end:
                    raise ChatModelError(
                        f"no machine of the Ray cluster has run the model for {_TIMEOUT_SECONDS / 60:.0f} minutes "
                        f"({last_line(error)}); add one and run the same command again"
                    ) from error
            self._actors = self._actors[1:] + self._actors[:1]
            time.sleep(POLL_SECONDS)

    def _answer(self, actor: Any, method: str, args: Sequence[Any]) -> Any:
        reply = getattr(actor, method).remote(*args)
        while not ray.wait([reply], timeout=_HEARTBEAT_SECONDS)[0]:
            ray.get(actor.is_there.options(concurrency_group="pulse").remote(), timeout=_HEARTBEAT_SECONDS)
        return ray.get(reply)


class _RemoteCompletionModel(DelegatingCompletionModel):
    """The actors of a model as a completion model.

    Args:
        name: Name of the model.
        ask: Calls a method of an actor.
        seed: Seed of the random number generator.
    """

    can_branch = True

    def __init__(self, name: str, ask: Callable[..., Any], seed: int) -> None:
        self.name, self._ask_actor, self._chance = name, ask, random.Random(seed)

    def _ask(self, method: str, *args: Any) -> list[Any]:
        # The generator travels with the request, so that every actor draws what one machine would draw.
        found: list[Any]
        found, self._chance = self._ask_actor("complete_texts", method, self._chance, args)
        return found


class _Model:
    """An actor with a local model, which several threads ask so that it answers many episodes together."""

    def __init__(self, role: str, settings: ModelSettings) -> None:
        self._role, self._settings = role, settings
        self._opening = threading.Lock()
        self._opened: ChatModel | None = None

    def is_there(self) -> bool:
        """Return True at once, also while the model is busy."""
        return True

    def name(self) -> str:
        """Return the model's name once it can answer."""
        return self._open().name

    def ask(self, method: str, *args: Any) -> Any:
        """Call a method of the model."""
        return getattr(self._open(), method)(*args)

    def complete_texts(
        self, method: str, chance: random.Random, args: Sequence[Any]
    ) -> tuple[list[Any], random.Random]:
        """Call a method of `LocalCompletionModel`. Return its result and the random number generator after it."""
        from housewise.language.local.completion import LocalCompletionModel
        from housewise.language.local.model import LocalChatModel

        model = self._open()
        assert isinstance(model, LocalChatModel)
        return getattr(LocalCompletionModel(model, chance), method)(*args), chance

    def _open(self) -> ChatModel:
        with self._opening:
            if self._opened is None:
                folders = ray.get(ray.get_actor(COORDINATOR).folders.remote(self._role))
                with TemporaryDirectory(prefix="housewise-") as folder:
                    self._opened = _unpack_model_folders(self._settings, folders, Path(folder)).open()
            return self._opened


def _start_actors(role: str, settings: ModelSettings, episodes: int, models: int) -> dict[str, Any]:
    """Start actors of a local model: one per GPU, or one on the CPU. Return them by name when they can answer.

    Args:
        role: Role of the model.
        settings: Settings of the model.
        episodes: Maximum number of runners.
        models: Number of local models of the run, which share the GPUs or the cores.

    Raises:
        UserError: The model cannot be opened.
    """
    gpus = int(ray.cluster_resources().get("GPU", 0))
    cores = [node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"]]
    # One core is left for simulators, and every machine can replace a lost one.
    spared = (int(min((count for count in cores if count > 1), default=1)) - 1) // models
    needs = {"num_gpus": 1 / models} if gpus else {"num_cpus": spared} if spared else {}
    made = ray.remote(concurrency_groups={"pulse": 1})(_Model)
    options = {"max_restarts": -1, "max_concurrency": episodes + 1, **needs}
    names = [f"{role}-{number}" for number in range(min(max(gpus, 1), episodes))]
    actors = {name: made.options(name=name, **options).remote(role, settings) for name in names}
    try:
        ray.get([actor.name.remote() for actor in actors.values()])
    except RayError as error:
        raise_user_error(error)
    return actors


def pack_model_folders(config: ModelSettings) -> dict[str, FolderContent]:
    """Return the folders of a local model by setting, for machines that lack them."""
    folders = {"model": config.model.removeprefix("local:"), "adapter": config.adapter}
    found = {key: expand_user(name) for key, name in folders.items() if name and config.local}
    return {
        key: {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for key, folder in found.items()
        if folder.is_dir()
    }


def _unpack_model_folders(config: ModelSettings, folders: Mapping[str, FolderContent], target: Path) -> ModelSettings:
    """Write folders below a target folder, under their own names, and return settings that name them."""
    changes = {}
    for key, files in folders.items():
        named = config.adapter if key == "adapter" else config.model.removeprefix("local:")
        folder = target / key / Path(named or "").name
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        changes[key] = str(folder) if key == "adapter" else f"local:{folder}"
    return config.model_copy(update=changes)


def raise_user_error(error: RayError) -> NoReturn:
    """Raise an error that the user can fix as a `UserError`, and a defect unchanged."""
    cause = error.cause if isinstance(error, RayTaskError) else None
    if isinstance(cause, UserError):
        again = type(cause)(*cause.args)
        # Such as the tokens of replies that were of no use.
        vars(again).update(vars(cause))
        raise again from error
    if cause is not None:
        raise error
    raise UserError(
        f"the Ray cluster lost a worker for good ({last_line(error)}); see that every machine has this version of "
        "housewise and memory for its simulators, and run the same command again: finished episodes are kept"
    ) from error


def last_line(error: Exception) -> str:
    """Return the last line of an error's message, or the name of its class if it has no message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
