"""The paper's tables: from records made by hand, and a small one from beginning to end."""

import csv
import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from housewise.core.errors import UserError
from housewise.experiments.personalize.ablations import Ablations
from housewise.experiments.personalize.cross_scene import CrossScene
from housewise.experiments.personalize.main_results import MainResults
from housewise.experiments.personalize.paper import Experiment, carry_out, measured_ahead
from housewise.experiments.personalize.study import GENERATED, SceneStudy, recipe, scene_recipe, success
from housewise.experiments.results import Cell, Figure, Results, published_figure
from housewise.selftrain.examples import EpisodeDemonstration, write_examples
from housewise.systems.personalize.tasks import list_tasks
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from tests.commands import run_module
from tests.experiments.records import SHELF, TABLE, make_record, save


def study(out: Path, adapter: str | None = None, scene: str = "Merom_1_int") -> SceneStudy:
    given = {"run": {"adapter": adapter}} if adapter else {}
    return SceneStudy(recipe(False, given=given), scene, out)


def fill(studied: SceneStudy, row: str, *ends: str) -> None:
    """Test episodes of a row, each of a task of its own, that leave the mug somewhere."""
    for number, end in enumerate(ends):
        save(make_record({"mug 1": end}, episode=number), studied.records(row, "test"))


def shown(experiment: Experiment, out: Path) -> str:
    console = Console(record=True, width=200, file=io.StringIO())
    carry_out(experiment, out, True, console, {"quick": False})
    return console.export_text()


def test_the_main_table_is_computed_from_records(tmp_path: Path) -> None:
    studied = study(tmp_path)
    fill(studied, "LLM-Planner", TABLE, TABLE)
    fill(studied, "ST1", TABLE, SHELF, SHELF, SHELF)
    fill(studied, "ST2", SHELF, SHELF, SHELF, TABLE)
    told = shown(MainResults([studied]), tmp_path)
    assert "75.0 ± 25.0" in told and "n=4 of 25" in told and "(25.2 ± 4.0)" in told
    assert "things left alone" in told
    assert "Merom_1_int test, episode by episode: ST2 - ST1: 0.0 ± 40.8" in told
    rows = list(csv.DictReader((tmp_path / "main_results.csv").open()))
    by_name = {(row["row"], row["column"]): row for row in rows}
    cell = by_name["ST2", "Merom_1_int test"]
    assert (cell["mean"], cell["standard_error"], cell["episodes"]) == ("75.0", "25.0", "4")
    assert (cell["published_mean"], cell["published_standard_error"], cell["marked"]) == ("25.2", "4.0", "0")
    assert by_name["IL", "Merom_1_int train"]["mean"] == ""
    words = (tmp_path / "main_results.md").read_text()
    assert "| ST2 | –<br>(18.5 ± 2.6) | 75.0 ± 25.0<br>n=4 of 25<br>(25.2 ± 4.0) |" in words
    content = json.loads((tmp_path / "main_results.json").read_text())
    assert content["obstacles"]["Merom_1_int test"]["ST2"]["things"]["tidied"] == 0.75
    assert content["obstacles"]["Merom_1_int test"]["IL"]["things"] == {}
    assert (tmp_path / "main_results.png").read_bytes().startswith(b"\x89PNG")


def test_rows_that_start_from_an_adapter_are_marked(tmp_path: Path) -> None:
    results = MainResults([study(tmp_path, adapter="somewhere")]).results()[0]
    assert {cell.row for cell in results.cells if cell.marked} == {"start", "IL", "ST1", "ST2"}
    assert "| ST2 † |" in results.markdown and "† started from an adapter" in results.markdown
    plain = MainResults([study(tmp_path)]).results()[0]
    assert "start" not in plain.rows and "†" not in plain.markdown


def test_one_task_tells_no_error(tmp_path: Path) -> None:
    studied = study(tmp_path)
    for run in range(5):
        save(make_record({"mug 1": SHELF if run else TABLE}, repetition=run), studied.records("IL", "test"))
    assert studied.cell("IL", "test", success, "success_rate").ours == Figure(80.0, None, 5)
    assert "80.0<br>n=5 of 25<br>" in MainResults([studied]).results()[0].markdown


def test_files_tell_of_everything_that_is_there(tmp_path: Path) -> None:
    here, there = study(tmp_path), study(tmp_path, scene="Pomaria_2_int")
    for each in (here, there):
        fill(each, "IL", SHELF)
    console = Console(record=True, width=200, file=io.StringIO())
    some, everything = MainResults([here], ["IL"]), MainResults([here, there])
    carry_out(some, tmp_path, True, console, {"quick": False}, everything)
    told = console.export_text()
    assert "Merom_1_int" in told and "Pomaria_2_int" not in told and "SayCan" not in told
    rows = list(csv.DictReader((tmp_path / "main_results.csv").open()))
    assert {row["column"].partition(" ")[0] for row in rows} == {"Merom_1_int", "Pomaria_2_int"} and len(rows) == 6 * 4
    with pytest.raises(UserError, match="without --quick"):
        carry_out(some, tmp_path, True, console, {"quick": True})


def test_only_the_rows_that_were_asked_for_are_shown(tmp_path: Path) -> None:
    assert MainResults([study(tmp_path)], ["ST2", "IL"]).results()[0].rows == ["IL", "ST2"]
    with pytest.raises(UserError, match="no row 'ST9'"):
        MainResults([study(tmp_path)], ["ST9"])


def test_ablations_measure_the_same_records(tmp_path: Path) -> None:
    studied = study(tmp_path)
    record = make_record({"mug 1": SHELF}, statuses=("succeeded", "failed", "skipped", "succeeded"))
    save(record, studied.records("IL", "test"))
    executable, placements = Ablations([studied]).results()
    cells = {(cell.row, cell.column): cell for cell in (*executable.cells, *placements.cells)}
    assert cells["IL", "Merom_1_int test"].ours == Figure(1.0, None, 1)
    told = shown(Ablations([studied]), tmp_path)
    assert "50.0" in told and "n=1 of 25" in told and "(96.5 ± 1.4)" in told
    figures = json.loads((tmp_path / "ablations.json").read_text())["figures"]
    assert figures["executability"]["Merom_1_int"]["test"]["IL"] == {"mean": 50.0, "error": None, "episodes": 1}
    assert figures["unique_placements"]["Merom_1_int"]["test"]["IL"]["mean"] == 1.0


def test_the_figures_of_a_table_are_written_where_they_are_wanted(tmp_path: Path) -> None:
    fill(study(tmp_path / "out"), "IL", SHELF)
    words = [
        "--show",
        "--scene",
        "Merom_1_int",
        "--out",
        tmp_path / "out",
        "--json",
        tmp_path / "results" / "table.json",
    ]
    run_module("housewise.experiments.personalize.main_results", words, cwd=tmp_path, code=0)
    content = json.loads((tmp_path / "results" / "table.json").read_text())
    assert content == json.loads((tmp_path / "out" / "main_results.json").read_text())
    cells = {(cell["row"], cell["column"]): cell["ours"] for cell in content["tables"][0]["cells"]}
    assert cells["IL", "Merom_1_int test"] == {"mean": 100.0, "error": None, "episodes": 1}
    figures = content["figures"]["Merom_1_int"]
    assert figures["test"]["IL"] == cells["IL", "Merom_1_int test"] and figures["train"]["IL"] is None


def test_transfer_takes_two_scenes_and_shows_both_ways(tmp_path: Path) -> None:
    here, there = study(tmp_path), study(tmp_path, scene="Pomaria_2_int")
    with pytest.raises(UserError, match="two scenes"):
        CrossScene([here])
    save(make_record({"mug 1": SHELF}), here.folder / "elsewhere" / there.scene / "imitate" / "episodes")
    moved, own = CrossScene([here, there]).results()
    assert moved.columns == ["Merom_1_int → Pomaria_2_int", "Pomaria_2_int → Merom_1_int"]
    assert [cell.ours for cell in moved.cells][:2] == [Figure(100.0, None, 1), None]
    assert own.cells[0].published == Figure(12.6, 9.0) and not any(cell.published for cell in moved.cells)


def test_the_papers_transfer_stands_beside_ours(tmp_path: Path) -> None:
    moved, _ = CrossScene([study(tmp_path), study(tmp_path, scene="Pomaria_1_int")]).results()
    cells = {(cell.row, cell.column): cell.published for cell in moved.cells}
    assert cells["IL", "Merom_1_int → Pomaria_1_int"] == Figure(13.2, 6.5)
    assert cells["IL", "Pomaria_1_int → Merom_1_int"] is None


def test_what_was_learned_by_a_phase_is_familiar_in_it(tmp_path: Path) -> None:
    studied = study(tmp_path)
    for phase, thing in (("imitate", "mug 1"), ("iteration-1", "picture frame 2")):
        pair = EpisodeDemonstration(prompt=({"role": "user", "content": "-"},), reply="-", moved=(thing,))
        write_examples(tmp_path / "Merom_1_int" / "selftraining" / phase / "pairs.jsonl", [pair])
    assert studied.familiar("IL") == {"mug"}
    assert studied.familiar("ST1") == studied.familiar("ST2") == {"mug", "picture frame"}
    assert studied.familiar("SayCan") is None


def test_the_paper_says_nothing_of_one_persons_robot(tmp_path: Path) -> None:
    own = SceneStudy(recipe(False, given={"run": {"person": "annotator-3"}}), "Merom_1_int", tmp_path)
    assert all(cell.published is None for cell in MainResults([own]).results()[0].cells)


def test_published_figures_are_the_papers() -> None:
    assert published_figure("success_rate", "Rs_int", "LLM-Planner", "test") == Figure(-30.2, 4.8)
    assert published_figure("success_rate", GENERATED, "ST2", "test") is None
    assert published_figure("transfer", "Rs_int → Pomaria_2_int", "ST2", "test") == Figure(42.4, 3.8)


def test_tests_are_never_learned_from() -> None:
    settings = recipe(False, overrides=["training_tasks.seed=0"])
    with pytest.raises(UserError, match="is a test and is learned from"):
        scene_recipe(settings, GENERATED, few=False)
    scene_recipe(recipe(False), GENERATED, few=False)


def test_generated_houses_are_tested_once_each() -> None:
    train, test = scene_recipe(recipe(False), GENERATED, few=False).evaluation.tasks
    assert (train.houses, train.repeats, test.houses, test.repeats) == (20, 1, 25, 1)


def test_a_scene_needs_data() -> None:
    with pytest.raises(UserError, match="--data"):
        scene_recipe(recipe(False), "Merom_1_int", few=False)


@pytest.mark.housekeep
@pytest.mark.parametrize(("few", "counts"), [(False, (10, 20, 20, 5)), (True, (1, 1, 1, 1))])
def test_the_papers_tasks_are_played(housekeep: HousekeepData, few: bool, counts: tuple[int, ...]) -> None:
    settings = recipe(few, given={"run": {"data": str(housekeep.root)}})
    config = scene_recipe(settings, "Merom_1_int", few)
    tasks = (config.demonstrations, config.training_tasks, *config.evaluation.tasks)
    assert tuple(len(list_tasks(config.run_settings(chosen).tasks)) for chosen in tasks) == counts
    assert [config.evaluation_settings(chosen).tasks.repeats for chosen in config.evaluation.tasks] == [
        1,
        1 if few else 5,
    ]


@pytest.mark.housekeep
def test_what_is_there_is_shown_with_the_data_and_without(
    housekeep: HousekeepData, run: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    for scene in ("Merom_1_int", "Pomaria_2_int"):
        fill(study(tmp_path, scene=scene), "IL", SHELF)
    options = ("main_results", "--show", "--scene", "Merom_1_int", "--out", str(tmp_path))
    files = []
    for more in ((), ("--data", str(housekeep.root))):
        done = run(*options, *more)
        assert done.returncode == 0, done.stderr
        assert "n=1 of 25" in done.stdout
        files.append((tmp_path / "main_results.csv").read_text())
    assert files[0] == files[1] and "Pomaria_2_int test,100.0,,1" in files[0]


@pytest.fixture(scope="module")
def learner(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Settings that make a tiny model learn little."""
    pytest.importorskip("trl", reason="the extra housewise[train] is not installed")
    from tests.selftrain.tiny import save_learner, save_prompt

    folder = tmp_path_factory.mktemp("learner")
    prompt = save_prompt(folder / "short.yaml")
    few = ["run.max_steps=30", "run.max_plans=1", "training.max_example_tokens=16384"]
    # A grammar makes it end lines; of what is cut nothing else is learned.
    few += ["run.grounded=true", "run.sampling.max_tokens=64"]
    small = ["training.rank=2", "training.device=cpu", "training.dtype=float32"]
    return ["--model", f"local:{save_learner(folder / 'tiny')}", f"run.prompt={prompt}", *few, *small]


@pytest.fixture(scope="module")
def run() -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run_module(f"housewise.experiments.personalize.{module}", arguments, timeout=240)

    return run


def test_a_second_call_goes_on_where_the_first_stopped(
    learner: list[str], run: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    common = ["--quick", "--scene", GENERATED, "--out", str(tmp_path), *learner]
    first = run("main_results", "--row", "LLM-Planner", "--row", "SayCan", "--row", "IL", *common)
    assert first.returncode == 0, first.stderr
    written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("episodes/*.jsonl")}
    assert len(written) == 7
    limits = [json.loads(path.read_text())["agent"]["max_plans"] for path in sorted(tmp_path.rglob("test/config.json"))]
    assert sorted(limits) == [1, 1, 10]
    second = run("main_results", "--row", "LLM-Planner", "--row", "IL", "--row", "ST1", *common)
    assert second.returncode == 0, second.stderr
    assert written.items() <= {path: path.stat().st_mtime_ns for path in tmp_path.rglob("episodes/*.jsonl")}.items()
    rows = csv.DictReader((tmp_path / "main_results.csv").open())
    played = {(row["row"], row["episodes"]) for row in rows}
    assert played == {*((row, "1") for row in ("SayCan", "LLM-Planner", "IL", "ST1")), ("SayPlan", ""), ("ST2", "")}
    slow = run("main_results", "--row", "IL", "--scene", GENERATED, "--out", str(tmp_path), *learner)
    assert slow.returncode == 2 and "with --quick" in slow.stderr


def test_what_there_is_is_shown_when_playing_fails(
    learner: list[str], run: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    positive = ["filter.name=positive", "--row", "ST1", "--row", "IL"]
    failed = run("main_results", "--quick", "--scene", GENERATED, "--out", str(tmp_path), *learner, *positive)
    assert failed.returncode == 2 and "keeps none of" in failed.stderr
    assert "IL" in failed.stdout and "written:" in failed.stdout


def test_a_mistake_is_told_in_one_line(run: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    failed = run("main_results", "--quick", "--out", str(tmp_path))
    assert failed.returncode == 2 and len(failed.stderr.strip().splitlines()) == 1 and "--data" in failed.stderr


@pytest.mark.slow
@pytest.mark.housekeep
def test_what_is_taught_in_one_scene_is_tested_in_the_other(
    learner: list[str],
    run: Callable[..., subprocess.CompletedProcess[str]],
    housekeep: HousekeepData,
    tmp_path: Path,
) -> None:
    options = ["--quick", "--data", str(housekeep.root), "--row", "IL", "--out", str(tmp_path), *learner]
    done = run("cross_scene", *options)
    assert done.returncode == 0, done.stderr
    scenes = ("Merom_1_int", "Pomaria_2_int")
    for taught, tested in (scenes, scenes[::-1]):
        played = tmp_path / taught / "elsewhere" / tested / "imitate"
        (record,) = played.glob("episodes/*.jsonl")
        assert record.name.startswith(tested)
        assert json.loads((played / "config.json").read_text())["models"]["agent"]["adapter"].startswith(
            f"{tmp_path / taught}/"
        )
    shown = run("cross_scene", "--show", *options[:1], *options[3:])
    assert shown.returncode == 0, shown.stderr


def test_it_is_said_beforehand_how_many_episodes_are_measured() -> None:
    cells = [Cell("IL", "a test", None, expected=5), Cell("IL", "b test", Figure(1.0, 0.0, 3), expected=5)]
    success, executability = Results("success", cells), Results("executability", cells)
    said = measured_ahead([success, executability])
    assert said.startswith("2 figures over 10 episodes, 3 of them there already; ")
    assert "3 min" in said
