"""What earlier attempts at an episode have been told, however they ended."""

from pathlib import Path
from typing import ClassVar

import pytest

from housewise.core.record import Event, Failure, Header, Result
from housewise.core.record_files import RecordWriter
from housewise.language.base import ChatModelError, ChatRequest, Message
from housewise.language.replay import ReplayChatModel
from housewise.rollout.interrupted_events import read_interrupted_events
from housewise.rollout.models import LazyChatModel

NAME = "breakfast-run0"


class Answer(Event):
    type: ClassVar[str] = "answer"
    text: str


def begun(folder: Path, *answers: str, seed: int = 0) -> RecordWriter:
    writer = RecordWriter(folder, NAME)
    writer.write(Header(system="kitchen", task="breakfast", seed=seed, attempt=writer.attempt))
    for text in answers:
        writer.write(Answer(text=text))
    return writer


def told(folder: Path, seed: int = 0) -> list[str]:
    events = read_interrupted_events(folder, NAME, (Answer,), lambda header: header.seed == seed)
    return [event.text for event in events if isinstance(event, Answer)]


def test_answers_of_all_attempts_are_found_in_order(tmp_path: Path) -> None:
    # An attempt in which nobody was asked is not kept.
    begun(tmp_path).close()
    assert told(tmp_path) == []
    begun(tmp_path, "tea").close()
    assert told(tmp_path) == ["tea"]
    begun(tmp_path, "coffee").write(Failure(reason="no milk", error="no milk"))
    assert told(tmp_path) == ["tea", "coffee"]
    # Another failure does not do away with what was told in the first.
    begun(tmp_path, "juice").write(Failure(reason="no milk", error="no milk"))
    assert told(tmp_path) == ["tea", "coffee", "juice"]
    writer = begun(tmp_path, "water")
    assert writer.attempt == 2 and told(tmp_path) == ["tea", "coffee", "juice", "water"]
    writer.write(Result(end_reason="complete", scores={}))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"{NAME}.jsonl", *(f"{NAME}.jsonl.interrupted-{number}" for number in (1, 2, 3))
    ]  # fmt: skip


def test_attempts_at_something_else_and_damaged_lines_are_left_out(tmp_path: Path) -> None:
    begun(tmp_path, "tea", seed=7).close()
    assert told(tmp_path) == [] and told(tmp_path, seed=7) == ["tea"]
    partial = tmp_path / f"{NAME}.jsonl.partial"
    lines = partial.read_bytes().splitlines()
    damaged = [b"nonsense", b"\xff\xfe", b'{"type":"answer","data":{"text":7}}', b'{"type":"other","data":{}}', b""]
    partial.write_bytes(b"\n".join([lines[0], *damaged, lines[1], lines[1][:-5]]))
    assert told(tmp_path, seed=7) == ["tea"]
    partial.write_bytes(b"\n".join(lines[1:]))
    assert told(tmp_path, seed=7) == []


def test_a_deferred_model_is_opened_once_and_only_when_it_is_asked() -> None:
    opened: list[ReplayChatModel] = []

    def open_it() -> ReplayChatModel:
        opened.append(ReplayChatModel(["yes", "no"]))
        return opened[-1]

    unasked, asked = LazyChatModel("m", open_it), LazyChatModel("m", open_it)
    unasked.close()
    assert opened == []
    with pytest.raises(ChatModelError, match="has been closed"):
        unasked.complete([])
    request = ChatRequest((Message("user", "?"),))
    assert [asked.complete([request])[0][0].text for _ in range(2)] == ["yes", "no"] and len(opened) == 1
    assert asked.model is opened[0]
    asked.close()
