"""A server on this machine that speaks the protocol of a fine-tuning API."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]


class FineTuning(ThreadingHTTPServer):
    """Keeps files and jobs; a job goes through the given states, one each time it is looked at."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.states = ["validating_files", "queued", "running", "succeeded"]
        self.error: Body | None = None
        self.refusal: tuple[int, str] | None = None
        self.files: list[bytes] = []
        self.jobs: list[Body] = []
        self.keys: set[str] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def look(self, name: str) -> Body:
        job = next(job for job in self.jobs if job["id"] == name)
        job["status"] = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        if job["status"] == "succeeded":
            job |= {"fine_tuned_model": "ft:gpt-4o-mini:house", "trained_tokens": 4321}
        return {**job, "error": self.error if job["status"] == "failed" else None}


class _Handler(BaseHTTPRequestHandler):
    server: FineTuning
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.keys.add(self.headers["authorization"])
        if self.server.refusal is not None:
            status, message = self.server.refusal
            self._reply({"error": {"message": message}}, status)
        elif self.path == "/v1/files":
            assert b'name="purpose"\r\n\r\nfine-tune' in body
            self.server.files.append(body)
            self._reply({"id": f"file-{len(self.server.files)}", "object": "file", "bytes": len(body)})
        else:
            number = len(self.server.jobs) + 1
            job = {**json.loads(body), "id": f"ftjob-{number}", "object": "fine_tuning.job", "status": "queued"}
            self.server.jobs.append(job)
            self._reply(job)

    def do_GET(self) -> None:
        if self.path.split("?")[0] == "/v1/fine_tuning/jobs":
            self._reply({"object": "list", "data": self.server.jobs, "has_more": False})
        elif "/events" in self.path:
            events = [
                {"id": f"e{step}", "object": "fine_tuning.job.event", "created_at": step, "level": "info",
                 "message": "step", "type": "metrics", "data": {"step": step, "train_loss": 1 / step}}
                for step in (2, 1)
            ]  # fmt: skip
            self._reply({"object": "list", "data": events, "has_more": False})
        else:
            self._reply(self.server.look(self.path.rpartition("/")[2]))

    def _reply(self, body: Body, status: int = 200) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: Any) -> None:
        pass
