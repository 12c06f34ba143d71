"""The settings of a run: defaults from ``housekeep_configs/run.yaml``, a file of the user's, the command line."""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Literal, TypeVar

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_serializer, model_validator
from yaml import YAMLError

from housewise.agent.personalize.scripted import Order
from housewise.core.errors import UserError, alternatives
from housewise.core.literals import DEEPEST, Literals
from housewise.language.adapters import asked_with
from housewise.language.gbnf import GrammarDialect
from housewise.language.server.address import redacted, without_passwords
from housewise.worlds.house.simulator import SimulatorName

COMPUTED = frozenset({"workers", "ray", "gpu", "batch_size", "concurrency", "timeout"})
"""Settings of a run that tell how it is computed, and change nothing of what comes of it but by rounding."""

MODEL_PLANNERS = ("llm", "sayplan", "saycan")

# No computer plays as much; what is beyond is a slip of the pen that would fill its memory.
_MOST = 1_000_000
_LARGEST_SEED = 2**63 - 1
_LONGEST_VALUE = 200

_Model = TypeVar("_Model", bound=BaseModel)


class Settings(BaseModel):
    """Settings of which every key is known and none changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class SamplingConfig(Settings):
    """How replies are drawn; see housewise.language.base.Sampling."""

    temperature: float = Field(ge=0)
    top_p: float = Field(gt=0, le=1)
    max_tokens: int = Field(ge=1, le=_MOST)
    n: int = Field(default=1, ge=1, le=_MOST)


class ControllerConfig(Settings):
    """How the robot moves; see housewise.controller.skills.ControllerSettings."""

    kind: Literal["standard", "published"]
    goal_radius: float = Field(gt=0)
    most_walk: int = Field(ge=1, le=_MOST)
    most_look: int = Field(ge=0, le=_MOST)


class DemonstratorConfig(Settings):
    """How the demonstrator shows the task; see housewise.agent.personalize.scripted.ScriptedPlanner."""

    order: Order = "random"
    thorough: bool = False


class RunConfig(Settings):
    """One run; every key is explained in ``housekeep_configs/run.yaml``.

    Where no prompt is given, it is the one that the adapter was trained with.
    """

    data: str | None
    scenes: list[str] | None
    episodes: list[int] | str | None
    houses: int = Field(ge=1, le=_MOST)
    seed: int = Field(ge=0, le=_LARGEST_SEED)
    objects: tuple[int, int] = (5, 10)
    misplaced: tuple[int, int] = (3, 7)
    person: str
    planner: Literal["llm", "sayplan", "saycan", "scripted", "demonstrator", "replay"]
    model: str
    base_url: str | None = Field(repr=False)
    adapter: str | None
    prompt: str
    most_steps_per_plan: int = Field(ge=1, le=_MOST)
    sampling: SamplingConfig
    # These have defaults, so that runs from before there was one can be read.
    grounded: bool = False
    grammar_dialect: GrammarDialect = "vllm"
    second_look: bool = False
    demonstrator: DemonstratorConfig = DemonstratorConfig()
    records: str | None
    simulator: SimulatorName
    gpu: int = Field(default=-1, ge=-1)
    runs: int = Field(ge=1, le=_MOST)
    series: int = Field(default=0, ge=0, le=_LARGEST_SEED)
    max_steps: int = Field(ge=1, le=_MOST)
    most_plans: int = Field(ge=1, le=_MOST)
    most_idle_plans: int = Field(ge=1, le=_MOST)
    replan_when_blocked: bool = True
    look_down: float
    controller: ControllerConfig
    workers: int = Field(ge=1, le=_MOST)
    ray: str | None = None
    batch_size: int = Field(default=16, ge=1, le=_MOST)
    concurrency: int | None = Field(default=None, ge=1, le=_MOST)
    timeout: float = Field(default=60.0, gt=0)
    continue_prefix: bool = False

    @model_validator(mode="before")
    @classmethod
    def _prompt_of_the_adapter(cls, given: Any) -> Any:
        if not isinstance(given, dict) or given.get("prompt") is not None:
            return given
        told = {} if given.get("planner") in ("sayplan", "saycan") else asked_with(given.get("adapter"))
        return {**given, "prompt": told.get("prompt", "planner")}

    @model_validator(mode="after")
    def _things_fit(self) -> RunConfig:
        for name, (fewest, most) in (("objects", self.objects), ("misplaced", self.misplaced)):
            if not 0 < fewest <= most:
                raise ValueError(f"{name} are the fewest and the most, as in [5, 10]")
        if self.misplaced[0] > self.objects[0]:
            raise ValueError("no more things can be misplaced than there are; lower misplaced or raise objects")
        return self

    @field_serializer("base_url")
    def _without_password(self, base_url: str | None) -> str | None:
        """What is kept and compared; the connection is made with the address itself."""
        return base_url and redacted(base_url)

    @property
    def identity(self) -> dict[str, Any]:
        """What has to be the same for two runs to belong in one folder: all but how many and where."""
        return self.model_dump(exclude={*COMPUTED, "runs", "houses", "episodes", "scenes"})

    @property
    def told(self) -> dict[str, Any]:
        """What the adapter says of how it is meant to be asked, as settings of a run."""
        return asked_with(self.adapter) if self.planner == "llm" else {}

    @property
    def local(self) -> bool:
        """Whether the model runs in this program."""
        return self.model.partition(":")[0] == "local"


def load_config(
    file: Path | None = None, settings: Mapping[str, Any] | None = None, overrides: Sequence[str] = ()
) -> RunConfig:
    """Put a run's settings together; see load_settings.

    What an adapter says of how it is meant to be asked wins over the packaged defaults, and what is given over both.
    """
    return load_as_told(RunConfig, packaged("run"), lambda config: config.told, file, settings, overrides)


def load_as_told(
    model: type[_Model],
    base: DictConfig,
    told: Callable[[_Model], Mapping[str, Any]],
    file: Path | None,
    settings: Mapping[str, Any] | None,
    overrides: Sequence[str],
) -> _Model:
    """Put settings together whose defaults some of them tell; see load_settings.

    Args:
        model, base, file, settings, overrides: see load_settings.
        told: what the settings tell of defaults, by key.
    """
    config = load_settings(model, base, file, settings, overrides)
    defaults = told(config)
    return load_settings(model, base, file, settings, overrides, defaults) if defaults else config


def packaged(name: str) -> DictConfig:
    """The defaults that come with the package, by name of the file in ``housekeep_configs``."""
    loaded = OmegaConf.create(
        (resources.files("housewise.housekeep_configs") / f"{name}.yaml").read_text(encoding="utf-8")
    )
    assert isinstance(loaded, DictConfig)
    return loaded


def load_settings(
    model: type[_Model],
    base: DictConfig,
    file: Path | None = None,
    settings: Mapping[str, Any] | None = None,
    overrides: Sequence[str] = (),
    told: Mapping[str, Any] | None = None,
) -> _Model:
    """Put settings together; later ones win.

    ``${...}`` is evaluated in what the user wrote as such, the file and the overrides, and nowhere else: values by key
    may come from a record or from an adapter of somebody else's.

    Args:
        model: what they have to fit.
        base: the defaults, with every key that there is.
        file: a YAML file with some of the keys, or the name of one of configs().
        settings: values by key, from command-line options or records.
        overrides: ``key=value`` texts, with dots for nested keys.
        told: values by key that replace defaults.

    Raises:
        UserError: for an unknown key or a value that does not fit; the message names it and what would fit.
    """
    literals = Literals()
    given, written = _from_file(find_config(file)) if file else OmegaConf.create(), _from_overrides(overrides)
    try:
        values = OmegaConf.create(literals.hidden(dict(settings or {})))
        for part, source in ((given, str(file)), (values, "the command line"), (written, "the command line")):
            _refuse_unknown(part, base, source)
        parts = [base, OmegaConf.create(literals.hidden(dict(told or {}))), given, values, written]
        merged = literals.shown(OmegaConf.to_container(OmegaConf.merge(*parts), resolve=True))
    except OmegaConfBaseException as error:
        raise UserError(f"setting {error.full_key}: {without_passwords(_first_line(error))}") from error
    except RecursionError:
        raise UserError(_too_deep("the settings")) from None
    try:
        return model.model_validate(merged)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        if first["type"] == "literal_error":
            known = alternatives(str(first["input"]), re.findall(r"'([^']*)'", first["ctx"]["expected"]))
            raise UserError(f"setting {field}: no {_brief(first['input'])}; {known}") from error
        raise UserError(f"setting {field}: {first['msg']}, not {_brief(first['input'])}") from error


def configs() -> dict[str, Path]:
    """The configuration files that come with the package, by name."""
    folder = Path(str(resources.files("housewise.housekeep_configs")))
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def find_config(name_or_path: Path) -> Path:
    """A configuration file: a path where there is a file, else the package's of that name.

    Raises:
        UserError: when there is neither; the message names what there is.
    """
    with contextlib.suppress(OSError):
        if name_or_path.exists() and not name_or_path.is_dir():
            return name_or_path
    known, name = configs(), str(name_or_path).removesuffix(".yaml")
    if name not in known:
        raise UserError(
            f"{name_or_path}: no such configuration file, and none of that name; {alternatives(name, known)}"
        )
    return known[name]


def _from_file(path: Path) -> DictConfig:
    try:
        loaded = OmegaConf.create(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: no such configuration file ({error.strerror})") from error
    except RecursionError:
        raise UserError(_too_deep(str(path))) from None
    except AssertionError:  # OmegaConf's for a text without keys
        loaded = None
    except Exception as error:  # YAML's many errors
        raise UserError(f"{path}: not readable as YAML ({_first_line(error)})") from error
    if not isinstance(loaded, DictConfig):
        raise UserError(f"{path}: has to hold keys and values")
    return loaded


def _from_overrides(overrides: Sequence[str]) -> DictConfig:
    for text in overrides:
        if "=" not in text:
            raise UserError(f"{_brief(text)}: write settings as key=value, for example runs=5")
    try:
        return OmegaConf.from_dotlist(list(overrides))
    except (OmegaConfBaseException, ValueError, YAMLError) as error:
        told = without_passwords(" ".join(" ".join(overrides).split()))
        raise UserError(f"{told}: {without_passwords(_first_line(error))}") from error
    except RecursionError:
        raise UserError(_too_deep("the command line")) from None


def _too_deep(source: str) -> str:
    return f"{source}: settings are nested more than {DEEPEST} levels deep; write them as in housekeep_configs/"


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def _brief(value: object) -> str:
    """A value as it is shown: not all of it where it is long, and no password of an address."""
    try:
        text = without_passwords(repr(value))
    except (RecursionError, ValueError):  # a number of more digits than Python writes
        return f"this {type(value).__name__}"
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


def _refuse_unknown(given: DictConfig, known: DictConfig, source: str, prefix: str = "") -> None:
    for key in map(str, given):
        name = f"{prefix}{key}"
        if key not in known:
            close = difflib.get_close_matches(key, [str(k) for k in known], n=1)
            if name == "run":
                raise UserError(f"{source}: holds a recipe of self-training, for housewise selftrain")
            hint = f"did you mean {prefix}{close[0]}?" if close else f"known keys: {', '.join(str(k) for k in known)}"
            raise UserError(f"{source}: unknown setting {name!r}; {hint}")
        if isinstance(known[key], DictConfig):
            if not isinstance(given[key], DictConfig):
                raise UserError(f"{source}: setting {name!r} has keys of its own: {', '.join(map(str, known[key]))}")
            _refuse_unknown(given[key], known[key], source, f"{name}.")
