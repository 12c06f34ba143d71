"""A server on this machine that speaks the protocol of a fine-tuning API."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.servers import JsonHandler, LocalServer

Body = dict[str, Any]


@dataclass(frozen=True)
class Trouble:
    """What comes in place of an answer.

    Attributes:
        status: of the answer; 0 closes the connection.
        message: in the answer.
        is_done: whether the server does what it was asked for nevertheless.
    """

    status: int = 0
    message: str = "Bad gateway"
    is_done: bool = False


class FineTuning(LocalServer):
    """Keeps files and jobs; both go through the given states, one each time they are looked at.

    Attributes:
        troubles: by a request such as ``POST /v1/files``, what comes in place of its first answers.
        requests: those that came, in order.
        returns_metadata: whether jobs are listed with the metadata that they were made with.
        nameless: looks at a job that has succeeded before its model has a name.
        page: jobs and files that are listed at once.
        interrupt: is called at each request, with the number of requests so far, before it is done and after.
    """

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.states = ["validating_files", "queued", "running", "succeeded"]
        self.file_states: list[str | None] = ["processed"]
        self.error: Body | None = None
        self.refusal: tuple[int, str] | None = None
        self.troubles: dict[str, list[Trouble]] = {}
        self.requests: list[str] = []
        self.returns_metadata = True
        self.nameless = 0
        self.page = 20
        self.interrupt: Callable[[int, bool], None] = lambda number, is_done: None
        self.uploads: list[Body] = []
        self.files: list[bytes] = []
        self.jobs: list[Body] = []
        self.keys: set[str] = set()

    def answer(self, request: str, query: dict[str, list[str]], raw: bytes) -> Body:
        kind, _, name = request.rpartition("/")
        if request == "POST /v1/files":
            return self._upload(raw)
        if request == "POST /v1/fine_tuning/jobs":
            job = {**json.loads(raw), "id": f"ftjob-{len(self.jobs) + 1}", "object": "fine_tuning.job"}
            self.jobs.append(job | {"status": "queued"})
            return self._told(self.jobs[-1])
        if request == "GET /v1/files":
            return self._listed(self.uploads, query)
        if request == "GET /v1/fine_tuning/jobs":
            return self._listed([self._told(job) for job in self.jobs], query)
        if name == "events":
            events = [
                {"id": f"e{step}", "object": "fine_tuning.job.event", "created_at": step, "level": "info",
                 "message": "step", "type": "metrics", "data": {"step": step, "train_loss": 1 / step}}
                for step in (2, 1)
            ]  # fmt: skip
            return {"object": "list", "data": events, "has_more": False}
        if kind == "GET /v1/files":
            file = next(file for file in self.uploads if file["id"] == name)
            return file | {"status": _next(self.file_states)}
        return self._look(name)

    def _upload(self, raw: bytes) -> Body:
        assert b'name="purpose"\r\n\r\nfine-tune' in raw
        self.files.append(raw)
        name = re.search(rb'filename="([^"]+)"', raw)
        file = {"id": f"file-{len(self.files)}", "object": "file", "filename": name[1].decode() if name else ""}
        self.uploads.append(file | {"status": self.file_states[0], "bytes": len(raw), "purpose": "fine-tune"})
        return self.uploads[-1]

    def _listed(self, items: list[Body], query: dict[str, list[str]]) -> Body:
        newest = items[::-1]
        names = [item["id"] for item in newest]
        start = names.index(query["after"][0]) + 1 if "after" in query else 0
        data = newest[start : start + self.page]
        return {"object": "list", "data": data, "has_more": start + self.page < len(newest)}

    def _look(self, name: str) -> Body:
        job = next(job for job in self.jobs if job["id"] == name)
        job["status"] = _next(self.states)
        if job["status"] == "succeeded":
            self.nameless -= 1
            if self.nameless < 0:
                job |= {"fine_tuned_model": "ft:gpt-4o-mini:house", "trained_tokens": 4321}
        return self._told(job) | {"error": self.error if job["status"] == "failed" else None}

    def _told(self, job: Body) -> Body:
        return job if self.returns_metadata else {key: job[key] for key in job if key != "metadata"}


def _next(states: list[Any]) -> Any:
    return states.pop(0) if len(states) > 1 else states[0]


class _Handler(JsonHandler):
    server: FineTuning

    def do_POST(self) -> None:
        body = self.read_body()
        self.server.keys.add(self.headers["authorization"])
        if self.server.refusal is not None:
            status, message = self.server.refusal
            self.reply(status, {"error": {"message": message}})
        else:
            self._answer(body)

    def do_GET(self) -> None:
        self._answer(b"")

    def _answer(self, body: bytes) -> None:
        address = urlsplit(self.path)
        request = f"{self.command} {address.path}"
        self.server.requests.append(request)
        self.server.interrupt(len(self.server.requests), False)
        troubles = self.server.troubles.get(request)
        trouble = troubles.pop(0) if troubles else None
        answer: Body = {}
        if trouble is None or trouble.is_done:
            answer = self.server.answer(request, parse_qs(address.query), body)
        self.server.interrupt(len(self.server.requests), True)
        if trouble is None:
            self.reply(200, answer)
        elif trouble.status:
            self.reply(trouble.status, {"error": {"message": trouble.message}})
        else:
            self.close_connection = True
