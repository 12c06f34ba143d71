"""A small server that holds adapters as vLLM does, with a tiny local model behind it: its log-probabilities are real.

    python -m tests.lora_server serve MODEL --port PORT --served-model-name NAME --max-lora-rank RANK [--fault FAULT]

It takes vLLM's other options as well. Faults: ``ignores`` (adapters are loaded and not applied), ``first`` (all names
answer with the first adapter that was loaded), ``forgets`` (an adapter is gone after two replies), ``neither``
(adapters are loaded but not listed), ``split`` (an adapter is there on the connection alone that it was loaded on, as
with several API servers), ``template`` (it reads another system message), ``targets`` (it supports no adapter of the
layers that are trained), ``sleepless`` and ``coma`` (it does not fall asleep, or wake up). $LORA_SERVER_FAULT is
another way to name a fault, and ``dies:FILE`` kills the server at its second reply with an adapter, if the file is
there, which is then removed.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from housewise.core.errors import UserError
from housewise.language import ChatRequest, Message, Reply, Sampling
from tests.servers import JsonHandler, LocalServer

if TYPE_CHECKING:
    from housewise.language.local.model import LocalChatModel

Body = dict[str, Any]
_ROOT = "root ::= reply\n"


class LoraServer(LocalServer):
    """Holds a model and its adapters.

    Args:
        model: folder of the model.
        name: of the model in requests.
        fault: see above.
        max_rank: of adapters.
        port: where it listens; 0 for any.
        max_length: of a prompt with its reply, in tokens.
    """

    def __init__(
        self, model: str, name: str = "base", fault: str = "", max_rank: int = 16, port: int = 0,
        max_length: int = 16384,
    ) -> None:  # fmt: skip
        super().__init__(_Handler, port)
        self._max_length = max_length
        self._model, self._base, self.fault, self._max_rank = model, name, fault, max_rank
        self._lock = threading.Lock()
        self.adapters: dict[str, str] = {}
        self._loaded_by: dict[str, object] = {}
        self.requests: list[tuple[str, Body]] = []
        self._opened: dict[str | None, LocalChatModel] = {}
        self._served = 0
        self._is_asleep = False

    def answer(self, path: str, body: Body, connection: object = None) -> tuple[int, Body | str]:
        with self._lock:
            self.requests.append((path, body))
        if path == "/health":
            return 200, ""
        if path in ("/sleep?level=1", "/wake_up", "/is_sleeping") and os.environ.get("VLLM_SERVER_DEV_MODE") == "1":
            if (path[:6], self.fault) in (("/sleep", "sleepless"), ("/wake_", "coma")):
                return 500, _error("CUDA error: out of memory")
            if path != "/is_sleeping":
                self._is_asleep = path != "/wake_up"
            return 200, {"is_sleeping": self._is_asleep}
        if path == "/v1/models":
            shown = [] if self.fault == "neither" else self._known(connection)
            adapters = [{"id": name, "root": self.adapters[name], "parent": self._base} for name in shown]
            return 200, {
                "data": [{"id": self._base, "root": self._model, "max_model_len": self._max_length}, *adapters]
            }
        if path == "/v1/load_lora_adapter":
            self._loaded_by[body["lora_name"]] = connection
            return self._load(body["lora_name"], body["lora_path"])
        if path == "/v1/unload_lora_adapter":
            return (200, "Success") if self.adapters.pop(body["lora_name"], None) else (404, _error("no adapter"))
        name = body["model"]
        if name != self._base and name not in self._known(connection):
            return 404, _error(f"The model `{name}` does not exist.")
        model = self._opened_model(name)
        body = {**body, "messages": _turns_for_template(model._tokenizer, body["messages"])}
        if "prompt_logprobs" in body:
            return 200, self._score(model, body)
        self._served += 1
        if self.fault == "forgets" and self._served == 2:
            self.adapters.clear()
        kind, _, file = self.fault.partition(":")
        if kind == "dies" and name != self._base and self._served >= 2 and Path(file).exists():
            Path(file).unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return 200, _completion(self._replies(model, body))

    def _known(self, connection: object) -> list[str]:
        return [name for name in self.adapters if self.fault != "split" or self._loaded_by[name] == connection]

    def _load(self, name: str, folder: str) -> tuple[int, Body | str]:
        if name in self.adapters:
            return 400, _error(f"The lora adapter '{name}' has already been loaded.")
        config = Path(folder) / "adapter_config.json"
        if not config.is_file():
            return 404, _error(f"Loading lora {name} failed: No adapter found for {folder}")
        rank = json.loads(config.read_text())["r"]
        if rank > self._max_rank:
            return 400, _error(f"LoRA rank {rank} is greater than max_lora_rank {self._max_rank}.")
        if self.fault == "targets":
            return 400, _error(f"Loading lora {name} failed: unsupported target modules ['down_proj'] for this model.")
        self.adapters[name] = folder
        return 200, f"Success: LoRA adapter '{name}' added successfully."

    def _opened_model(self, name: str) -> LocalChatModel:
        # Not before a model is asked: importing it takes most of the time of a server that does not start.
        from housewise.language.local.model import LocalChatModel

        adapter = None if self.fault == "ignores" else self.adapters.get(name)
        if self.fault == "first" and adapter is not None:
            adapter = next(iter(self.adapters.values()))
        with self._lock:
            if adapter not in self._opened:
                self._opened[adapter] = LocalChatModel(self._model, adapter, device="cpu", dtype="float32")
            return self._opened[adapter]

    def _score(self, model: LocalChatModel, body: Body) -> Body:
        from housewise.language.local.tokens import prompt_tokens

        *turns, last = body["messages"]
        if self.fault == "template":
            turns = [{"role": "system", "content": "You are helpful."}, *turns]
        messages = [Message(turn["role"], turn["content"]) for turn in turns]
        options = body.get("chat_template_kwargs")
        tokens = prompt_tokens(model._tokenizer, messages, last["content"], model.name, options)
        if len(tokens) + body["max_tokens"] > self._max_length:
            raise UserError(f"This model's maximum context length is {self._max_length} tokens.")
        [scores] = model.token_logprobs(tokens[:1], [tokens[1:]])
        places = [{str(token): {"logprob": score}} for token, score in zip(tokens[1:], scores, strict=True)]
        return {**_completion([]), "prompt_logprobs": [None, *places]}

    def _replies(self, model: LocalChatModel, body: Body) -> list[Reply]:
        *turns, last = body["messages"]
        prefix = ""
        if body.get("continue_final_message"):
            prefix = last["content"]
        else:
            turns = body["messages"]
        grammar = body.get("structured_outputs", {}).get("grammar")
        sampling = Sampling(
            body["temperature"], body["top_p"], body["max_tokens"], body.get("n", 1), tuple(body.get("stop", ())),
            body.get("seed"), body.get("logprobs", False), body.get("top_logprobs", 0),
        )  # fmt: skip
        messages = tuple(Message(turn["role"], turn["content"]) for turn in turns)
        request = ChatRequest(messages, sampling, prefix, grammar and grammar.removeprefix(_ROOT), may_be_empty=True)
        return model.complete([request])[0]


class _Handler(JsonHandler):
    server: LoraServer

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        self._answer(json.loads(self.read_body() or "{}"))

    def _answer(self, body: Body) -> None:
        try:
            status, found = self.server.answer(self.path, body, self.client_address)
        except UserError as error:
            status, found = 400, _error(str(error))
        if isinstance(found, str):
            self.reply(status, found.encode(), Content_Type="text/plain")
        else:
            self.reply(status, found)


def _turns_for_template(tokenizer: Any, turns: list[Body]) -> list[Body]:
    """Return the turns that a chat template writes, which is given them as they are: some refuse the system's turn.

    Raises:
        UserError: The template refuses them.
    """
    from housewise.language.local.tokens import takes_system_role

    if takes_system_role(tokenizer):
        return turns
    try:
        tokenizer.apply_chat_template(turns, tokenize=False)
    except Exception as error:
        raise UserError(str(error)) from error
    return [turn for turn in turns if turn["role"] != "system"]


def _error(message: str) -> Body:
    return {"error": {"message": message}}


def _completion(replies: list[Reply]) -> Body:
    choices = [
        {
            "index": number,
            "message": {"role": "assistant", "content": reply.text},
            "finish_reason": reply.finish_reason,
            "logprobs": None
            if reply.token_logprobs is None
            else {"content": [{"token": "", "logprob": each} for each in reply.token_logprobs]},
        }
        for number, reply in enumerate(replies)
    ]
    counts = {
        "prompt_tokens": replies[0].prompt_tokens if replies else 0,
        "completion_tokens": sum(reply.completion_tokens for reply in replies),
    }
    return {"id": "chat", "object": "chat.completion", "created": 1, "model": "m", "choices": choices, "usage": counts}


def main() -> None:
    """Serve as ``vllm serve`` does."""
    parser = argparse.ArgumentParser()
    parser.add_argument("serve")
    parser.add_argument("model")
    parser.add_argument("--port", type=int)
    parser.add_argument("--host")
    parser.add_argument("--served-model-name")
    parser.add_argument("--max-lora-rank", type=int)
    parser.add_argument("--enable-lora", action="store_true")
    parser.add_argument("--enable-sleep-mode", action="store_true")
    parser.add_argument("--fault", default=os.environ.get("LORA_SERVER_FAULT", ""))
    parser.add_argument("--max-model-len", type=int, default=16384)
    parser.add_argument("--api-server-count", type=int)
    parser.add_argument("--generation-config")
    parser.add_argument("--dtype")
    chosen = parser.parse_args()
    if chosen.host != "127.0.0.1" or not chosen.enable_lora or not os.environ.get("VLLM_ALLOW_RUNTIME_LORA_UPDATING"):
        sys.exit("not served as it should be")
    if chosen.api_server_count != 1:
        sys.exit("loading an adapter reaches one API server")
    LoraServer(
        chosen.model, chosen.served_model_name, chosen.fault, chosen.max_lora_rank, chosen.port, chosen.max_model_len
    ).serve_forever()


if __name__ == "__main__":
    main()
