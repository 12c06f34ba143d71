"""Prompts of somebody else's: templates that are filled in, not programs."""

from pathlib import Path

import pytest

from housewise.agent.clipr.prompt_templates import CliprPrompts
from housewise.core.errors import DataError


def test_a_template_reaches_nothing_but_its_values(tmp_path: Path) -> None:
    trap, file = tmp_path / "it-ran", tmp_path / "prompts.yaml"
    reach = "{{ cycler.__init__.__globals__.os.system('touch " + str(trap) + "') }}"
    file.write_text(f'ask: "{reach}"\nplain: "{{{{ words }}}}"\n')
    assert CliprPrompts(file).fill("plain", words=reach) == reach
    with pytest.raises(DataError, match=r"prompts\.yaml: ask: SecurityError"):
        CliprPrompts(file).fill("ask")
    assert not trap.exists()
