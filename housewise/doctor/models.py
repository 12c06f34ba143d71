"""Check the weights of the local model, the adapters, and the environment variables of the chat server."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from urllib.parse import urlsplit

from housewise.core.errors import UserError
from housewise.core.text_files import read_json
from housewise.doctor.findings import MODELS, Finding, summarize_error

MAKE_ADAPTER = "housewise selftrain --houses 4 --iterations 1 --workers 4 --out runs/first"
SET_KEY = "export OPENAI_API_KEY=KEY"
SET_URL = "export OPENAI_BASE_URL=http://localhost:8000/v1"
SET_CACHE = "export HOUSEWISE_CACHE=FOLDER"


def check_smollm2() -> list[Finding]:
    """Check the weights of the local model, and the folder that they are unpacked into."""
    from housewise.language.local.smollm2 import INSTALL_SMOLLM2, cache_folder, packed_smollm2

    try:
        file = packed_smollm2()
    except UserError:
        details = "its weights are not installed; only the model `local` needs them"
        return [Finding(MODELS, "SmolLM2", "missing", details, INSTALL_SMOLLM2)]
    with file.open("rb") as stream:
        if stream.read(4) != b"GGUF":
            remedy = INSTALL_SMOLLM2.replace("install", "install --force-reinstall")
            return [Finding(MODELS, "SmolLM2", "broken", f"{file} is damaged", remedy)]
    cache = cache_folder().absolute()
    nearest = next(folder for folder in (cache, *cache.parents) if folder.exists())
    if not (nearest.is_dir() and os.access(nearest, os.W_OK)):
        details = f"its unpacked weights (0.3 GB) cannot be kept in {cache}"
        return [Finding(MODELS, "SmolLM2", "broken", details, SET_CACHE)]
    return [Finding(MODELS, "SmolLM2", "ok", f"{file.name}, unpacked at its first use into {cache}")]


def check_minilm() -> list[Finding]:
    """Check the sentence embeddings, without reading the weights."""
    from housewise.language.embedder import INSTALL, MINILM_WHEEL, minilm_folder

    try:
        folder = minilm_folder()
    except UserError:
        details = "MiniLM is not installed; learn, adapt, clipr and comparisons by meaning need it"
        return [Finding(MODELS, "sentence embeddings", "missing", details, INSTALL)]
    if not (folder / "model.safetensors").is_file():
        remedy = INSTALL.replace("install", "install --force-reinstall")
        return [Finding(MODELS, "sentence embeddings", "broken", f"{folder} has no weights", remedy)]
    return [Finding(MODELS, "sentence embeddings", "ok", MINILM_WHEEL)]


def check_adapters() -> list[Finding]:
    """Check the bundled adapters."""
    from housewise.language.adapters import bundled_adapters

    adapters = bundled_adapters()
    if not adapters:
        details = "none comes with this version; the untrained SmolLM2 hardly tidies anything up"
        return [Finding(MODELS, "adapters", "missing", details, MAKE_ADAPTER)]
    return [check_adapter(name, folder) for name, folder in adapters.items()]


def check_adapter(name: str, folder: Path) -> Finding:
    """Check whether an adapter is complete.

    Args:
        name: Name of the adapter.
        folder: Folder that PEFT's save_pretrained wrote.
    """
    try:
        settings = read_json(folder / "adapter_config.json")
        details = f"for {settings['base_model_name_or_path']}"
        if not any(folder.glob("adapter_model.*")):
            raise ValueError("no weights")
    except (UserError, ValueError, KeyError, TypeError) as error:
        remedy = _restore_command(folder)
        return Finding(MODELS, f"adapter {name}", "broken", f"{folder} is damaged ({summarize_error(error)})", remedy)
    return Finding(MODELS, f"adapter {name}", "ok", details)


def _restore_command(folder: Path) -> str:
    """Return the command that brings back the files of a bundled adapter, in a checkout or in an installation."""
    if any((parent / ".git").exists() for parent in (folder, *folder.resolve().parents)):
        return f"git checkout {shlex.quote(str(folder))}"
    return "python -m pip install --force-reinstall --no-deps housewise"


def check_server_variables() -> list[Finding]:
    """Check the key and the address of the chat server. The key is not shown; of the address, scheme, host and port."""
    key, url = (os.environ.get(name, "").strip() for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"))
    return [_key_finding(key), _base_url_finding(url)]


def _key_finding(key: str) -> Finding:
    if not key:
        details = "not set; your own server usually needs none"
        return Finding(MODELS, "OPENAI_API_KEY", "missing", details, SET_KEY)
    if not (key.isascii() and key.isprintable()):
        return Finding(MODELS, "OPENAI_API_KEY", "broken", "holds characters that no key has", SET_KEY)
    return Finding(MODELS, "OPENAI_API_KEY", "ok", "set")


def _base_url_finding(url: str) -> Finding:
    if not url:
        details = "not set: OpenAI's server is used unless --base-url names another"
        return Finding(MODELS, "OPENAI_BASE_URL", "ok", details)
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if host is None or parts.scheme not in ("http", "https"):
        return Finding(MODELS, "OPENAI_BASE_URL", "broken", "not a web address", SET_URL)
    shown = f"{parts.scheme}://{host}" + ("" if port is None else f":{port}")
    return Finding(MODELS, "OPENAI_BASE_URL", "ok", shown)
