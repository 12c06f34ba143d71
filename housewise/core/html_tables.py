"""Small HTML tables for notebooks. All texts are escaped, since names in records and files are untrusted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from housewise.core.printable_text import make_printable


def html_text(text: str, tag: str = "p") -> str:
    """Return a text as an HTML element.

    Args:
        text: The text.
        tag: Name of the element.
    """
    return f"<{tag}>{escape(make_printable(text))}</{tag}>"


def html_table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as HTML, with text aligned to the left.

    Args:
        caption: Text above the table.
        columns: Headings of the columns.
        rows: Cells of each row.
    """
    head = "".join(html_text(column, "th") for column in columns)
    body = "".join(f"<tr>{''.join(html_text(cell, 'td') for cell in row)}</tr>" for row in rows)
    return (
        f'<table style="text-align: left">{html_text(caption, "caption")}<thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )
