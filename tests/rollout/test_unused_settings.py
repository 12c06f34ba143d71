"""What is said of settings that a user gives although nothing in the run reads them."""

from pathlib import Path

import pytest

from housewise.rollout.system import find_system
from housewise.rollout.unused_settings import unused_settings
from tests.commands import housewise


@pytest.mark.parametrize(
    ("system", "given", "unused"),
    [
        ("personalize", ["planner=scripted", "grounded=true", "houses=3"], ["grounded"]),
        ("personalize", ["planner=scripted", "judging.confidence=0.5"], ["judging.confidence"]),
        ("personalize", ["planner=scripted", "models.agent.base_url=http://localhost:1"], ["base_url"]),
        ("personalize", ["planner=llm", "adapter=null", "grounded=true"], []),
        ("personalize", ["planner=llm", "adapter=null", "prompt=planner", "confidence=0.5"], ["judging.confidence"]),
        ("personalize", ["planner=llm", "adapter=null", "prompt=judging", "confidence=0.5"], []),
        ("personalize", ["planner=llm", "adapter=null", "prompt=notes", "judging.as_json=true"], []),
        ("personalize", ["planner=sayplan", "adapter=null", "score_placements=true"], ["judging.score_placements"]),
        ("personalize", ["planner=saycan", "adapter=null", "sampling.n=3"], ["sampling.n"]),
        ("personalize", ["planner=sayplan", "adapter=null", "sampling.n=3"], ["sampling.n"]),
        ("personalize", ["planner=llm", "adapter=null", "sampling.n=3"], []),
        ("personalize", ["planner=demonstrator", "prompt=notes"], []),
        ("personalize", ["planner=scripted", "wrappers=[loop_recovery]"], ["wrappers"]),
        ("personalize", ["planner=llm", "adapter=null", "wrappers=[loop_recovery]"], []),
        ("personalize", ["planner=demonstrator", "demonstrator.order=listed"], []),
        ("personalize", ["planner=scripted", "demonstrator.order=listed"], ["demonstrator.order"]),
        ("clipr", ["method=clipr", "feedback_interval=20"], ["feedback_interval"]),
        ("clipr", ["method=adaptive", "feedback_interval=20"], []),
        ("adapt", ["planner=cook", "asking=never"], ["asking"]),
        ("basis", ["planner=oracle", "person=alice", "persona=alice"], ["persona"]),
        ("basis", ["planner=oracle", "person=model", "models.person.model=somebody", "persona=alice"], []),
    ],
)
def test_settings_that_nothing_reads_are_found(system: str, given: list[str], unused: list[str]) -> None:
    made = find_system(system)
    assert unused_settings(made(made.load(None, {}, given))) == unused


def test_the_command_names_them_and_plays(tmp_path: Path) -> None:
    played = housewise(
        "run", "--houses", "1", "--planner", "scripted", "max_steps=1", "grounded=true", "--out", tmp_path
    )
    assert "grounded: without effect here, where scripted plays" in played.stderr and played.returncode == 0
