"""Command lines with a mistake: each ends in one line that says what is wrong and what there is."""

from pathlib import Path

import pytest

from tests.commands import one_line
from tests.in_process import call_housewise

WRONG = {
    "rnu": "housewise: no command 'rnu'; did you mean run? available: demo, doctor, run, ",
    "memory shw ada": "housewise memory: no command 'shw'; did you mean show? available: show, add, ",
    "play ktchen": "housewise play: no command 'ktchen'; did you mean kitchen? available: kitchen, lab",
    "--versoin": "housewise: no option --versoin; did you mean --version?",
    "--houses 3 run": "housewise: no option --houses; options of a command follow its name",
    "run --memory nobody --memory ada": "housewise run: --memory is given twice; leave one of them out",
    "memory show ada --room kitchen --room=hall": "housewise memory show: --room is given twice",
    "run --persn ada": "housewise run: no option --persn; did you mean --person?",
    "run --debgu": "housewise run: no option --debgu; did you mean --debug?",
    "learn ada --no-such": "housewise learn: no option --no-such; housewise learn --help lists all",
    "run --houses": "option '--houses' requires an argument",
    "run --houses x": "housewise run: invalid value for '--houses': ",
    "run --houses 0": "setting houses: ",
    "run --person zoe": "no person 'zoe'; available: majority, ada, ",
    "run --system adpt": "no system 'adpt' is installed; did you mean adapt? available: adapt, basis, clipr, ",
    "run --system clipr --person nobody": "no 'nobody'; available: cooperative, adversarial",
    "run --system stars --person nobody": "no 'nobody'; available: simulated, terminal, model",
    "run --system clipr --houses 2": "--houses: unknown setting 'houses' of --system clipr; leave the option out",
    "run --system stars --scene Merom_1_int": "--scene: unknown setting 'scenes' of --system stars; leave the option",
    "run --system adapt --person zoe": "nobody is named 'zoe'; available: juan, sarah, ",
    "run --system adapt --person nowhere.yaml": "nowhere.yaml: no such file or folder of people",
    "run --planner scriptd": "no 'scriptd'; did you mean scripted? available: demonstrator, llm, ",
    "run --simulator habit": "no 'habit'; did you mean habitat? available: habitat, raycast",
    "run --adapter tidi": "did you mean tidy? available: auto, none, breakfast, tidy",
    "run --config nope": "nope: no such configuration file, and none of that name; available: ",
    "run --log-to nope": "no tracker 'nope' is installed; available: tensorboard, wandb",
    "run --scene Merom_1_int": "--data or HOUSEKEEP_DATA",
    "run --episodes test": "--data or HOUSEKEEP_DATA",
    "run --houses 2 --data /nowhere": "give one of them",
    "run --planner replay": "--records",
    "run --planner replay --records nowhere": "nowhere: no such folder; name the episodes folder of an earlier run",
    "run --planner scripted --records runs": "--records: only --planner replay repeats replies, not scripted",
    "run sampling.temprature=0.5": "did you mean sampling.temperature?",
    "run prompt=jugding": "did you mean judging?",
    "run maxsteps=5": "unknown setting 'maxsteps'; did you mean max_steps?",
    "demo 3": "housewise demo: got unexpected extra argument",
    "compare a": "housewise compare: missing argument 'B'; see housewise compare --help",
    "export x --to rerum": "no export to rerum; did you mean rerun? available: ",
    "selftrain --system clpr": "--system clpr: has no training; available: adapt, basis, personalize, stars",
    "selftrain --system stars --houses 3": "--houses: does not concern the training of stars",
    "selftrain --system basis --rollouts vllm": "--rollouts: does not concern the training of basis",
    "selftrain --base-url http://localhost:1/v1": "use --model local:FOLDER_OR_HUB_NAME --rollouts vllm=URL",
    "learn": "housewise learn: missing argument 'PERSON'; see housewise learn --help",
    "learn ada --topic moon": "--topic moon: nothing is asked about that; available: kitchen, house",
    "experiment --quick": "--quick: is about one experiment; name the experiment as well",
    "learn ada --base-url http://localhost:1/v1": "--base-url: is the address of a model's server; give --model too",
    "list peple": "no list of peple; did you mean people? available: systems, planners, ",
    "settings persnalize": "no settings of 'persnalize'; did you mean personalize? available: ",
    "copy persn ada": "no kind of file is called persn; did you mean person? available: person, prompt, config",
    "copy person adda": "no person 'adda' is bundled; did you mean ada? available: ada, bruno, ",
    "play kitchen --person zoe": "nobody is named 'zoe'; available: juan, sarah, ",
    "play kitchen --task 9": "there is no task 9",
    "memory add ada --kind rul": "no kind of notes is called rul; did you mean rule? available: reaction, ",
    "memory show --thing mug": "--thing: is about the notes of one person; name the person as well",
    "memory export ada --format xml": "no format xml; available: yaml, jsonl",
}


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_command_line_ends_in_one_line(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = call_housewise(*line.split(), HOUSEWISE_MEMORY=str(tmp_path / "memories"))
    error = one_line(done)
    assert error.startswith("error: ") and WRONG[line] in error
    assert done.stdout == "", "nothing is begun"


def test_a_group_without_a_command_shows_its_help() -> None:
    shown = call_housewise("memory", code=2)
    assert "Usage: housewise memory" in shown.stdout and not shown.stderr
