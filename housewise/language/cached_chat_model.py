"""A chat model that caches replies, so that an interrupted measurement continues without repeating requests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from threading import Lock

from pydantic import TypeAdapter

from housewise.core.errors import UserError
from housewise.core.text_files import numbered_lines, parse_json, read_text
from housewise.language.base import ChatModel, ChatRequest, Reply

_REPLIES = TypeAdapter(list[Reply])


class CachedChatModel:
    """Answers greedy requests from a cache, and asks the model for the rest.

    Sampled requests and requests for alternatives, which the file does not hold, are not cached.

    Args:
        model: Model to ask; it is closed with this one.
        identity: Tells the model from others of the same name, such as the fingerprint of its adapter.
        path: File of the cache, a JSON object per line, without the text of the requests. None caches in memory.

    Raises:
        UserError: If the file cannot be read.
    """

    def __init__(self, model: ChatModel, identity: str = "", path: Path | None = None) -> None:
        self.name = model.name
        self._model, self._identity, self._path = model, identity, path
        self._lock = Lock()
        self._known = _read(path) if path and path.exists() else {}

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        """See ``ChatModel.complete``.

        Raises:
            ChatModelError: See ``ChatModel.complete``.
            UserError: If the cache cannot be written.
        """
        if any(request.sampling.temperature > 0 or request.sampling.alternatives for request in requests):
            return self._model.complete(requests)
        keys = [self._key(request) for request in requests]
        with self._lock:
            new = {key: request for key, request in zip(keys, requests, strict=True) if key not in self._known}
        replied = dict(zip(new, self._model.complete([*new.values()]) if new else [], strict=True))
        with self._lock:
            self._keep(replied)
            self._known |= replied
            return [self._known[key] for key in keys]

    def close(self) -> None:
        """See ``ChatModel.close``."""
        self._model.close()

    def _key(self, request: ChatRequest) -> str:
        asked = asdict(request)
        # Keep the keys of files that are older than these fields.
        for name in ("may_be_empty", "json_schema"):
            if not asked[name]:
                del asked[name]
        return sha256(json.dumps([self.name, self._identity, asked]).encode()).hexdigest()

    def _keep(self, kept: dict[str, list[Reply]]) -> None:
        if self._path is None or not kept:
            return
        lines = [json.dumps({"key": key, "replies": [_plain(reply) for reply in each]}) for key, each in kept.items()]
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write("".join(f"\n{line}\n" for line in lines))
        except OSError as error:
            raise UserError(f"{self._path}: replies cannot be kept ({error}); name another file") from error


def _plain(reply: Reply) -> dict[str, object]:
    fields = {key: value for key, value in asdict(reply).items() if key not in ("seconds", "alternatives")}
    return {key: value for key, value in fields.items() if value is not None and (key, value) != ("thoughts", "")}


def _read(path: Path) -> dict[str, list[Reply]]:
    """Read the replies of a file; a reply on a line that was cut is requested again."""
    try:
        lines = list(numbered_lines(read_text(path)))
        rows = [parse_json(line, f"line {number}") for number, line in lines if line.endswith("}]}")]
        if lines and not rows:
            raise ValueError("it has no replies")
        return {row["key"]: _REPLIES.validate_python(row["replies"]) for row in rows}
    except (UserError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path}: not a file of kept replies ({error}); name another one") from error
