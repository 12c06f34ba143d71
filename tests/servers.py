"""Servers on this machine, which run as long as a test needs them."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from typing import Any, TypeVar

Server = TypeVar("Server", bound=HTTPServer)


class LocalServer(ThreadingHTTPServer):
    """A server with the address of an API.

    Args:
        handler: Answers its requests.
        port: Where it listens; 0 for any.
    """

    def __init__(self, handler: type[BaseHTTPRequestHandler], port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up or was killed is part of the tests, not worth a traceback."""


class JsonHandler(BaseHTTPRequestHandler):
    """Reads requests and answers with JSON."""

    protocol_version = "HTTP/1.1"
    # Or else what follows the head of an answer waits until the head is acknowledged: 40 ms a request.
    disable_nagle_algorithm = True

    def read_body(self) -> bytes:
        return self.rfile.read(int(self.headers["content-length"]))

    def reply(self, status: int, body: Any, **headers: str) -> None:
        """Answer with a body: bytes as they are, all else as JSON."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content_Type": "application/json", "Content_Length": str(len(raw)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """A server while it runs; its port is free afterwards."""
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
