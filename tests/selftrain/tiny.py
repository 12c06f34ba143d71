"""What self-training is tried with: a model of random weights, a short prompt, and a filter that keeps everything."""

from collections.abc import Sequence
from pathlib import Path

from housewise.selftrain.examples import EpisodeDemonstration, Preference
from housewise.selftrain.personalize.filters import FilterSettings
from housewise.selftrain.personalize.settings import load_selftraining
from housewise.selftrain.trainers.settings import PreferenceConfig, TrainingConfig
from housewise.selftrain.training_folder import TrainingObserver
from tests.language.tiny import change_json, save_tiny_model

Unheard: type[TrainingObserver] = type("Unheard", (), {})
"""Nothing is to be told where nothing begins."""

PROMPT = """
name: short
system: Tidy up in at most {most_steps} steps.
user: "{holding} {rooms}"
prefix: "step 1:"
holding: "{object}"
empty_hand: "-"
room: "{room}: {receptacles}."
unexplored_room: "{room}"
receptacle: "{receptacle}"
laden_receptacle: "{receptacle} with {objects}"
"""


def save_learner(folder: Path, context: int = 16384, seed: int = 0) -> Path:
    """A tiny model that reads long prompts, of so many tokens."""
    return save_tiny_model(folder, positions=context, seed=seed)


def adapter_weights(folder: Path) -> bytes:
    """Return the weights of the adapter that a training left in a folder."""
    return (folder / "adapter" / "adapter_model.safetensors").read_bytes()


def save_prompt(path: Path) -> Path:
    """A template for few tokens."""
    path.write_text(PROMPT)
    return path


def training(**changes: object) -> TrainingConfig:
    """Settings of a small training on the CPU."""
    settings = {"device": "cpu", "dtype": "float32", "batch": 2, "rank": 4, "alpha": 8, "learning_rate": 0.02}
    return load_selftraining(settings={"training": settings | changes}).training


def pair(number: int = 0, **changes: object) -> EpisodeDemonstration:
    """A prompt with a reply."""
    prompt = (
        {"role": "system", "content": "Tidy up."},
        {"role": "user", "content": f"kitchen 0: counter {number} with mug {number}."},
    )
    fields = {"prompt": prompt, "prefix": "step 1:", "reply": f" go to counter {number % 3}", "episode": number}
    return EpisodeDemonstration(**{**fields, **changes})  # type: ignore[arg-type]


def everything(pairs: Sequence[EpisodeDemonstration], settings: FilterSettings) -> list[EpisodeDemonstration]:
    """A filter that keeps everything."""
    return list(pairs)


TEMPLATE = (
    "{% for turn in messages %}{{ turn.role }}\n{{ turn.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}assistant\n{% endif %}"
)

REFUSING = (
    "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" + TEMPLATE
)
"""A template without a system role."""


def save_talker(folder: Path, context: int = 16384, template: str = TEMPLATE) -> Path:
    """A tiny model that reads long conversations, of so many tokens, each turn with its end."""
    save_learner(folder, context)
    change_json(folder / "tokenizer_config.json", chat_template=template)
    return folder


def preference(number: int) -> Preference:
    """A prompt with two replies."""
    prompt = (
        {"role": "system", "content": "Make breakfast."},
        {"role": "user", "content": f"table {number} with mug {number}."},
    )
    return Preference(prompt=prompt, prefix="Action:", chosen=" go to table", rejected=" pick up the book and place it")


PREFERENCES = [preference(number) for number in range(6)]


def preference_training(**changes: object) -> PreferenceConfig:
    """Settings of a small training on preferences."""
    return PreferenceConfig(**training(**({"epochs": 4} | changes)).model_dump(), beta=0.1)
