"""Renders the pages of reports from HTML templates.

Recorded texts are escaped, and a content security policy allows only the report's own style and script.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from housewise.core.formatting import plural
from housewise.report.drawing.control_characters import neutralize_text
from housewise.report.drawing.house_map import path_gradient
from housewise.report.drawing.svg import gauge, icon, mark

_FOLDER = Path(__file__).parent


def render(template: str, variables: Mapping[str, Any]) -> str:
    """Render a template.

    Args:
        template: Name of the template.
        variables: Variables of the template.
    """
    return str(_environment().get_template(template).render(variables))


def digest_report_code() -> str:
    """Return a digest of the report's code and templates. Pages that were written with other code are written again."""
    sources = sorted(path for path in _FOLDER.rglob("*") if path.suffix in (".py", ".html", ".css", ".js"))
    return sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_neutralize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = _read_file("report.css") + f".ramp {{ background: {path_gradient()}; }}\n"
    script = _read_file("index.js")
    environment.globals |= {
        "style": Markup(style),
        "script": Markup(script),
        "style_hash": Markup(_csp_hash(style)),
        "script_hash": Markup(_csp_hash(script)),
        "icon": icon,
        "mark": mark,
        "gauge": gauge,
        "plural": plural,
    }
    return environment


def _neutralize(value: Any) -> Any:
    """Make control characters of a printed text visible; markup of the report itself is left as it is."""
    return neutralize_text(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _read_file(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _csp_hash(text: str) -> str:
    """Return the hash of a style or a script for the content security policy."""
    return f"'sha256-{base64.b64encode(sha256(text.encode('utf-8')).digest()).decode('ascii')}'"
