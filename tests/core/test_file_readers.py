"""Every reader of YAML, given scalars, tags and structures that are wrong: it reads them or says so in one line."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import housewise
from housewise.agent.adapt.prompts import PROMPTS as ADAPT_PROMPTS
from housewise.agent.adapt.prompts import load_prompts as load_adapt_prompts
from housewise.agent.basis.oracle_phrases import OraclePhrases
from housewise.agent.clipr.local_steps.clause_polarity import CLAUSES, ClauseExamples
from housewise.agent.clipr.local_steps.local_steps import OPEN_QUESTIONS, _load_open_questions
from housewise.agent.clipr.prompt_templates import PROMPTS as CLIPR_PROMPTS
from housewise.agent.clipr.prompt_templates import CliprPrompts
from housewise.agent.personalize.prompt_notes import NotesTemplate
from housewise.agent.stars.data_files import load_examples, load_robot, load_task, load_vocabulary
from housewise.agent.stars.prompts import load_prompts
from housewise.core.configs import CONFIGS
from housewise.core.errors import UserError
from housewise.core.text_files import is_file
from housewise.core.validation import read_model as read_run_settings
from housewise.core.yaml_files import read_yaml
from housewise.people.choices.house_profiles import PLACE_WORDS_FILE, PlaceWords
from housewise.people.choices.profiles import PROFILES_FOLDER, Profile
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, load_profiles
from housewise.people.kitchen.question_topics import load_topics
from housewise.people.lab.phrases import UserPhrases
from housewise.people.memory import Memory, Note
from housewise.people.memory.import_export import read_memory_file, to_yaml
from housewise.people.speech import Speech
from housewise.selftrain.adapt.settings import AdaptTrainingConfig
from housewise.selftrain.clipr.invented_choices import RECIPE, Recipe
from housewise.selftrain.personalize.settings import load_selftraining
from housewise.selftrain.stars.settings import GoalTrainingConfig
from housewise.systems.clipr.system import Clipr
from housewise.systems.personalize.system import Personalize
from housewise.systems.stars.house_body import load_stand_ins
from housewise.worlds.choices.ambik_labels import FAMILIES_FILE, UnifiedPerson
from housewise.worlds.choices.introplan_text import ORDERS_FILE, _Orders
from housewise.worlds.choices.kitchen_choices import KITCHEN_FILE, read_kitchen_choices
from housewise.worlds.house.housekeep.file_schemas import read_metadata
from housewise.worlds.house.preferences import load_preferences
from housewise.worlds.kitchen.kitchen_data import KITCHEN_FOLDER, load_kitchen
from tests.worlds.house.housekeep_folder import METADATA, make_folder

SCALARS = [
    "!!bool abc",
    "!!timestamp abc",
    "!!timestamp 2026-01-01T00:00:00+99:99",
    "2026-13-45",
    "2026-07-01",
    "!!int ''",
    "!!float ''",
    "!!int abc",
    "9" * 5000,
    "0x" + "f" * 5000,
    "1" + ":59" * 300,
    "1" + ":59" * 300 + ".5",
    ".inf",
    ".nan",
    "1e999",
    "!!null x",
    "!!binary abc",
    "!!binary é",
    "!!binary aGVsbG8=",
    "!!set {a, b}",
    "!!set [a]",
    "!!omap [a: 1, b: 2]",
    "!!omap {a: 1}",
    "!!pairs [a: 1, a: 2]",
    "!!python/object/apply:os.system [touch here]",
    "!!python/tuple [1, 2]",
    "!own {a: 1}",
    "=",
    "{<<: 3}",
    "{<<: [1, 2]}",
    "{[a]: 1}",
    "{2026-07-01: 1, 1: 2, null: 3}",
    "{a: 1, a: 2}",
    '"\\uD800"',
    '"\\0"',
    '"a\\nb"',
    '"\\e[31m"',
    "&x [*x]",
    "*unknown",
    "[" * 900 + "]" * 900,
    "[" * 100_000,
    "\t- tab",
    "[]",
    "{}",
    "null",
    "''",
]
BOMB = "a: &a {x: 1}\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} {{<<: [*{chr(97 + n)}, *{chr(97 + n)}]}}\n" for n in range(24)
)
WHOLE = ["", "7", "- a", "a: 1\n---\nb: 2", BOMB, "%YAML 9.9\n---\na", "a:\n\t- b", "\x00", "? [a]\n: 1", "a: \x01"]

Reader = Callable[[Path], object]


def settings_of(kind: Any) -> Reader:
    return lambda path: read_run_settings(path, kind)


def kitchen_with(name: str) -> Reader:
    """The kitchen of a folder in which one file is another."""

    def read(path: Path) -> object:
        folder = path.parent / "kitchen"
        folder.mkdir(exist_ok=True)
        for file in KITCHEN_FOLDER.glob("*.yaml"):
            (folder / file.name).write_bytes((path if file.name == name else file).read_bytes())
        load_kitchen.cache_clear()
        try:
            return load_kitchen(folder)
        finally:
            load_kitchen.cache_clear()

    return read


MEMORY = to_yaml(Memory("ada", [Note(person="ada", kind="rule", text="Mugs belong in the cupboard.")]))

READERS: dict[str, tuple[Reader, str | Path]] = {
    "core/settings_loading.py": (
        lambda path: Personalize.load(path),
        "planner: scripted\ntasks: {seed: 3}\nhouses: 2\n",
    ),
    "systems (clipr)": (lambda path: Clipr.load(path), "system: clipr\nmax_questions: 2\ndata: kitchen\n"),
    "selftrain/personalize/settings.py": (load_selftraining, "iterations: 1\nrun: {tasks: {houses: 2}}\n"),
    "selftrain/adapt/settings.py": (AdaptTrainingConfig.load, "run: {tasks: {task: [1]}}\n"),
    "selftrain/stars/settings.py": (GoalTrainingConfig.load, CONFIGS / "goals.yaml"),
    "agent/personalize/prompt.py": (
        lambda path: NotesTemplate.load(str(path)),
        CONFIGS / "prompts" / "planner.yaml",
    ),
    "agent/adapt/prompts.py": (load_adapt_prompts, ADAPT_PROMPTS),
    "agent/basis/oracle_phrases.py": (
        settings_of(OraclePhrases),
        CONFIGS / "basis" / "wordings" / "assistant_training.yaml",
    ),
    "people/lab/phrases.py": (settings_of(UserPhrases), CONFIGS / "basis" / "wordings" / "user_training.yaml"),
    "agent/clipr/prompt_templates.py": (CliprPrompts, CLIPR_PROMPTS),
    "agent/clipr/local_steps/local_steps.py": (_load_open_questions, OPEN_QUESTIONS),
    "agent/clipr/local_steps/clause_polarity.py": (settings_of(ClauseExamples), CLAUSES),
    "agent/stars/data_files.py": (lambda path: load_vocabulary(str(path)), CONFIGS / "stars" / "vocabulary.yaml"),
    "stars (robot)": (lambda path: load_robot(str(path)), CONFIGS / "stars" / "robot.yaml"),
    "stars (task)": (lambda path: load_task(str(path)), CONFIGS / "stars" / "organize_office.yaml"),
    "stars (prompts)": (lambda path: load_prompts(str(path)), CONFIGS / "stars" / "prompts.yaml"),
    "stars (examples)": (lambda path: load_examples(str(path)), "name: mine\nseen:\n  office: [cup on desk]\n"),
    "systems/stars/house_body.py": (lambda path: load_stand_ins(str(path)), CONFIGS / "stars" / "house.yaml"),
    "worlds/house/preferences.py": (load_preferences, CONFIGS / "people" / "ada.yaml"),
    "people/kitchen/profile_files.py": (load_profiles, ADAPT_PROFILES / "p01_juan.yaml"),
    "people/kitchen/question_topics.py": (load_topics, CONFIGS / "adapt" / "topics.yaml"),
    "people/choices/profiles.py": (settings_of(Profile), PROFILES_FOLDER / "kitchen.yaml"),
    "people/choices/respondent.py": (settings_of(Speech), CONFIGS / "clipr" / "speech.yaml"),
    "people/choices/house_profiles.py": (settings_of(PlaceWords), PLACE_WORDS_FILE),
    "people/memory/import_export.py": (read_memory_file, MEMORY),
    "selftrain/clipr/invented_choices.py": (settings_of(Recipe), RECIPE),
    "worlds/choices/kitchen_choices.py": (read_kitchen_choices, KITCHEN_FILE),
    "people/house/respondent.py": (settings_of(Speech), CONFIGS / "clipr" / "speech.yaml"),
    "worlds/choices/ambik_labels.py": (settings_of(UnifiedPerson), FAMILIES_FILE),
    "worlds/choices/introplan_text.py": (settings_of(_Orders), ORDERS_FILE),
    "worlds/kitchen/kitchen_data.py": (kitchen_with("house.yaml"), KITCHEN_FOLDER / "house.yaml"),
    "kitchen (groups)": (kitchen_with("groups.yaml"), KITCHEN_FOLDER / "groups.yaml"),
    "kitchen (tasks)": (kitchen_with("tasks.yaml"), KITCHEN_FOLDER / "tasks.yaml"),
    "worlds/house/housekeep/file_schemas.py": (read_metadata, METADATA),
}

OWN = (
    # Bundled files only, which no user names.
    "worlds/house/held_out_kinds.py",
    "worlds/house/tasks.py",
    "experiments/",
    "terminal/catalogue.py",
    "agent/basis/chat_assistant.py",
    "agent/basis/descriptions.py",
    "agent/basis/goal_hearing.py",
    "agent/basis/knowledge.py",
    "agent/clipr/house_place_words.py",
    "agent/clipr/house_questions.py",
    "agent/clipr/terminal_interview.py",
    "people/kitchen/invented_profiles.py",
    "people/lab/chat_user.py",
    "people/lab/vocabulary.py",
    # JSON files, and meshes.
    "language/adapters/__init__.py",
    "language/local/adapters.py",
    "report/selftraining_report.py",
    "rollout/run_meter.py",
    "selftrain/adapt/reflection_files.py",
    "selftrain/rollouts/",
    "selftrain/train",
    "worlds/house/housekeep/housekeep_data.py",
    "worlds/house/housekeep/obj_models.py",
    "worlds/house/housekeep/recovered_tasks.py",
    # The functions that read files.
    "core/",
)


def test_no_reader_is_missing_here() -> None:
    root = Path(housewise.__file__).parent
    reading = re.compile(r"\b(read_model|read_yaml|parse_yaml|yaml\.(safe_)?load|convert_yaml_errors)\(")
    # Folders are entered one by one, as rglob does not follow links.
    paths = [*root.glob("*.py"), *(path for folder in root.iterdir() for path in folder.rglob("*.py"))]
    found = {path.relative_to(root).as_posix() for path in paths if reading.search(path.read_text(encoding="utf-8"))}
    assert len(found) > 20
    assert {name for name in found if not name.startswith(OWN)} <= {*READERS}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where values stand."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield (*path, key)
        yield from places(each, (*path, key))


def with_mark(value: Any, path: tuple[Any, ...]) -> Any:
    """A copy with a mark in place of what stands somewhere."""
    if not path:
        return "@@"
    copy = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = with_mark(value[path[0]], path[1:])
    return copy


def hostile(text: str) -> Iterator[str]:
    """Texts in which something is replaced by what is wrong there."""
    yield from WHOLE
    content = yaml.safe_load(text)
    there = list(places(content))
    # The first and the last place take turns, as each text takes milliseconds.
    for place, scalars in ((there[0], SCALARS[::2]), (there[-1], SCALARS[1::2])):
        marked = yaml.safe_dump(with_mark(content, place), allow_unicode=True, width=10**6, sort_keys=False)
        assert marked.count("'@@'") == 1
        yield from (marked.replace("'@@'", scalar) for scalar in scalars)
    keyed = yaml.safe_dump({"@@": 1, **content} if isinstance(content, dict) else content, allow_unicode=True)
    yield from (keyed.replace("'@@'", f"? {scalar}\n") for scalar in SCALARS)


@pytest.mark.parametrize("name", READERS)
def test_a_reader_says_in_one_line_what_is_wrong(name: str, tmp_path: Path) -> None:
    read, example = READERS[name]
    if example == METADATA:
        example = make_folder(tmp_path / "data") / METADATA
    text = example.read_text(encoding="utf-8") if isinstance(example, Path) else example
    path, refused = tmp_path / "file.yaml", 0
    path.write_text("\ufeff" + text.replace("\n", "\r\n"), encoding="utf-8")
    read(path)  # with a byte order mark, and line ends of Windows
    for wrong in hostile(text.replace("!!python/tuple", "")):
        path.write_text(wrong, encoding="utf-8")
        try:
            read(path)
        except UserError as error:
            refused += 1
            assert "\n" not in str(error) and len(str(error)) < 1000, error
            assert ".yaml" in str(error) or "setting" in str(error), error
    path.write_bytes(b"name: \xff\xfe\xe9\n")
    with pytest.raises(UserError, match=r"cannot be read .*UTF-8"):
        read(path)
    assert refused > 30 and not (tmp_path / "here").exists() and not Path("here").exists()


def test_what_is_wrong_is_said_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("name: ada\nabout: !!bool abc\n")
    with pytest.raises(UserError, match=r"mine\.yaml: not readable as YAML \(a value does not fit its tag: .*abc"):
        read_yaml(path)
    path.write_text("name: [\n")
    with pytest.raises(UserError, match=r"mine\.yaml: not readable as YAML \(.*, line 2, column 1\); correct it"):
        read_yaml(path)


@pytest.mark.parametrize("name", ["x" * 400, "a\0b", "../" * 2000])
def test_names_that_no_file_can_have_are_none(name: str) -> None:
    assert not is_file(Path(name))
    with pytest.raises(UserError, match="cannot be read"):
        read_yaml(Path(name))
