"""Finds and loads the weights of local models."""

from __future__ import annotations

import importlib.util
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from jinja2 import TemplateSyntaxError

from housewise.core.printable_text import excerpt
from housewise.core.user_folders import expand_user
from housewise.language.base import ChatModelError
from housewise.language.local.adapters import apply_adapter, check_adapter
from housewise.language.local.devices import find_device
from housewise.language.local.libraries import INSTALL, NO_REMOTE_CODE, UNREADABLE, first_line, silence_transformers
from housewise.language.local.smollm2 import INSTALL_SMOLLM2, SMOLLM2, packed_smollm2, smollm2_folder
from housewise.language.local.tokens import PROBE

_FAST_TOKENIZERS = ("tokenizer.json", "vocab.*", "tekken.json", "*.tiktoken")
_SENTENCEPIECE = "*.model"

_T = TypeVar("_T")


def load_model(
    model: str,
    adapter: str | Path | None,
    device: str,
    dtype: str,
    quantization: str | None = None,
    device_map: str | None = None,
) -> tuple[Any, Any]:
    """Load a causal language model for generation.

    Args:
        model: ``"smollm2"`` for the bundled model, a folder, or a Hugging Face name.
        adapter: Folder of a PEFT adapter trained on that model, or None.
        device: ``"auto"``, ``"cpu"``, ``"cuda"`` or any torch device.
        dtype: ``"auto"``, ``"float32"``, ``"bfloat16"`` or ``"float16"``.
        quantization: ``"4bit"``, or None for weights in this precision.
        device_map: ``"auto"`` to spread the layers over all GPUs, or None for one device.

    Returns:
        The model and its tokenizer.

    Raises:
        ChatModelError: If a dependency, a file or the device is missing, or the adapter belongs to another model.
    """
    try:
        import torch
        import transformers  # noqa: F401
    except ImportError as error:
        raise _not_installed(model, str(error.name)) from None
    place = find_device(f"model {model}: device={device}", device)
    precision = _choose_dtype(torch, model, place, dtype)
    options = _loading_options(precision, place, quantization, device_map)
    network, tokenizer = _read_model(model, lambda source, offline: _read_weights(source, offline, options))
    _check_template(model, tokenizer)
    # Adapters record their base's name; a path into a cache would match on no other machine.
    network.name_or_path = model
    if adapter is not None:
        network = apply_adapter(network, model, adapter, merge=precision == torch.float32)
    # Layers that are on their devices already cannot be moved.
    return (network if "device_map" in options else network.to(place)).eval().requires_grad_(False), tokenizer


def _loading_options(precision: Any, place: Any, quantization: str | None, device_map: str | None) -> dict[str, Any]:
    """Return the arguments of from_pretrained for a precision and a device, or several."""
    options: dict[str, Any] = {"dtype": precision}
    if quantization is not None:
        from transformers import BitsAndBytesConfig

        options["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=precision,
        )
    if quantization is not None or device_map is not None:
        options["device_map"] = device_map or {"": place}
    return options


def check_model_exists(model: str) -> None:
    """Check that there is a model of a name, without unpacking or loading it.

    Args:
        model: A folder or a Hugging Face name; empty for the bundled model.

    Raises:
        ChatModelError: If there is none, or its dependencies are not installed.
    """
    for library in ("torch", "transformers"):
        if importlib.util.find_spec(library) is None:
            raise _not_installed(model or SMOLLM2, library)
    if model in ("", SMOLLM2):
        packed_smollm2()
    elif not expand_user(model).is_dir():
        _read_model(model, _read_configuration)


def _read_configuration(source: str, offline: bool) -> object:
    from transformers import AutoConfig

    with silence_transformers():
        return AutoConfig.from_pretrained(source, local_files_only=offline, **NO_REMOTE_CODE)


def _not_installed(model: str, library: str) -> ChatModelError:
    also = f" and {INSTALL_SMOLLM2}" if model == SMOLLM2 else ""
    return ChatModelError(f"model {model}: {library} is not installed; run {INSTALL}{also}")


def load_outline(model: str, adapter: str | Path | None) -> tuple[Any, Any]:
    """Load a model without weights, and check that an adapter is for it.

    Returns:
        The model on the meta device, and its tokenizer.

    Raises:
        ChatModelError: If ``load_model`` would not find the model. Its weights may still be damaged.
    """
    network, tokenizer = _read_model(model, _read_outline)
    _check_template(model, tokenizer)
    if adapter is not None:
        check_adapter(model, adapter)
    return network, tokenizer


def _read_model(model: str, read: Callable[[str, bool], _T]) -> _T:
    """Read something of a model: from a folder, from the cache of the Hub on this machine, or from the Hub."""
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
            if not _reaches_hub():
                raise
            # Tried second, since the Hub's library asks the network before it looks at local files.
            return read(source, False)
    except (*UNREADABLE, SafetensorError) as error:
        if "trust_remote_code" in str(error):
            raise ChatModelError(
                f"model {model}: it takes programs of its own (auto_map in its config.json), which are never run; name "
                "a model of a kind that transformers has, or serve it, see base_url"
            ) from None
        if problem := (local and _tokenizer_problem(folder)) or _kind_problem(source):
            raise ChatModelError(f"model {model}: {problem}") from error
        reason = "it cannot be read" if local else "there is no such folder, and the Hugging Face Hub does not give it"
        raise ChatModelError(
            f"model {model}: {reason} ({first_line(error)}); name a folder that save_pretrained wrote, "
            "or a Hugging Face model that this machine has downloaded or can reach"
        ) from error


def _tokenizer_problem(folder: Path) -> str:
    """Return what is wrong with the tokenizer of the model in a folder; empty if nothing is known to be."""
    if not (folder / "config.json").is_file() or any(any(folder.glob(name)) for name in _FAST_TOKENIZERS):
        return ""
    names = sorted(path.name for path in folder.glob(_SENTENCEPIECE))
    if not names:
        return "it has no tokenizer; copy the tokenizer's files, such as tokenizer.json, into its folder"
    missing = [package for package in ("sentencepiece", "google.protobuf") if not _is_installed(package)]
    if not missing:
        return ""
    packages = " ".join(package.removeprefix("google.") for package in missing)
    return (
        f"its tokenizer is {names[0]} alone, which takes packages that are not installed; run pip install {packages}, "
        "or save the tokenizer as tokenizer.json"
    )


def _is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # a parent package is missing
        return False


def _kind_problem(source: str) -> str:
    """Return why a model is not a causal language model; empty if it is one, or if nobody knows.

    Args:
        source: A folder, or a Hugging Face name whose configuration is on this machine.
    """
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, AutoConfig

    try:
        with silence_transformers():
            config = AutoConfig.from_pretrained(source, local_files_only=True, **NO_REMOTE_CODE)
    except UNREADABLE:
        return ""
    if type(config) in MODEL_FOR_CAUSAL_LM_MAPPING:
        return ""
    remedy = "name a language model, or serve this one, see base_url"
    for name, what in (("vision_config", "images"), ("audio_config", "sound")):
        if hasattr(config, name):
            return f"a {config.model_type} model reads {what}, and models with {what} are not run here; {remedy}"
    return f"a {config.model_type} model does not go on with texts, as causal language models do; {remedy}"


def _reaches_hub() -> bool:
    """Whether the Hugging Face Hub's address can be resolved; without a network its library would try for a minute."""
    from huggingface_hub.constants import ENDPOINT

    address = urlsplit(ENDPOINT)
    if proxy_bypass(address.hostname or "") or address.scheme not in getproxies():
        try:
            socket.getaddrinfo(address.hostname, address.port or address.scheme)
        except OSError:
            return False
    return True


def _check_template(model: str, tokenizer: Any) -> None:
    """Check that a chat template parses; the messages of a prompt show whether it works.

    Raises:
        ChatModelError: If the template has a syntax error, or leaves out the user's message.
    """
    if not tokenizer.chat_template:
        return
    try:
        text = tokenizer.apply_chat_template(
            [{"role": "user", "content": PROBE}], tokenize=False, add_generation_prompt=True
        )
    except TemplateSyntaxError as error:
        raise ChatModelError(
            f"model {model}: its chat template (chat_template.jinja, or chat_template in tokenizer_config.json) does "
            f"not parse: line {error.lineno}: {excerpt(error.message)}; mend it, or remove it where the model has none"
        ) from error
    except Exception:  # a template is a program and may raise anything
        return
    if PROBE not in text.lower():
        raise ChatModelError(
            f"model {model}: its chat template leaves out what the user says, as those do that take lists of texts and "
            "images; name a model whose template takes texts"
        )


def _read_outline(source: str, offline: bool) -> tuple[Any, Any]:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    with silence_transformers():
        config = AutoConfig.from_pretrained(source, local_files_only=offline, **NO_REMOTE_CODE)
        tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=offline, **NO_REMOTE_CODE)
        with torch.device("meta"):
            return AutoModelForCausalLM.from_config(config, **NO_REMOTE_CODE), tokenizer


def _read_weights(source: str, offline: bool, options: Mapping[str, Any]) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    with silence_transformers():
        tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=offline, **NO_REMOTE_CODE)
        network = AutoModelForCausalLM.from_pretrained(source, local_files_only=offline, **options, **NO_REMOTE_CODE)
    for module in network.modules():
        # On some CPUs bitsandbytes packs weights when they are first read, and packed ones give no gradients.
        if hasattr(module, "support_avx512bf16_for_cpu"):
            module.support_avx512bf16_for_cpu = False
    return network, tokenizer


def _choose_dtype(torch: Any, model: str, place: Any, dtype: str) -> Any:
    if dtype != "auto":
        precision = getattr(torch, dtype, None)
        if precision not in (torch.float32, torch.bfloat16, torch.float16):
            raise ChatModelError(f"model {model}: {dtype!r} is not a dtype; use auto, float32, bfloat16 or float16")
        return precision
    if place.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    return getattr(torch, fastest_cpu_dtype(torch))


def fastest_cpu_dtype(torch: Any) -> str:
    """Return the dtype in which this machine's CPU computes fastest: ``"bfloat16"`` or ``"float32"``.

    Without instructions for bfloat16, torch converts back and forth. An Intel Xeon with AVX-512 only, as when a virtual
    machine hides AMX, multiplied half as fast in bfloat16 as in float32.
    """
    able: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    quick = able.get("avx512_bf16") and "intel" not in str(able.get("cpu_name", "")).lower()
    return "bfloat16" if quick or able.get("amx_bf16") else "float32"
