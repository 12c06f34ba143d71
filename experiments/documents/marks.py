"""Marks in Markdown, unseen where it is shown, between which text is filled in from results tables of experiments.

A table stands between lines of its own, and a figure in a line::

    <!-- figures: personalize/memory_value.csv#measure=success_rate; rows=row,stage -->
    | row | success, % |
    <!-- /figures -->

    in <!-- = bench/fidelity.csv#measure=effects_as_recorded .1f -->98.5<!-- / --> % of all cases

A page without such comments names the file in a link, whose text is the figure::

    [87 %][tidy] of them are put away

    [tidy]: results/personalize/new_houses.csv "#adapter=tidy,measure=success_rate .0f"

The words before the last are an address (see ``addresses.Address``), the last word a format of Python's; with ``±``
before the format a mean is shown with its standard error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest

from housewise.core.errors import DataError, UserError, suggest_names
from housewise.core.printable_text import excerpt
from housewise.experiments.documents.addresses import Address, draw_table
from housewise.experiments.documents.files import FigureFiles

Drawn = Callable[[FigureFiles], str]
"""Draws a table as Markdown, without a line break at its end."""

_BETWEEN = r"(?P<text>(?:(?!<!--).)*?)"
_MARK = re.compile(
    rf"(?P<table><!-- figures: (?P<name>[^>]*?) -->\n){_BETWEEN}<!-- /figures -->"
    rf"|<!-- = (?P<address>[^>]*?) (?P<format>[^ >]+) -->{_BETWEEN.replace('text', 'inline')}<!-- / -->",
    re.DOTALL,
)
_LINK = re.compile(
    r'^\[(?P<id>[^\]]+)\]: (?:\.\./)?results/(?P<file>\S+) "(?P<field>#.+) (?P<format>\S+)"$', re.MULTILINE
)
_PART = re.compile(r"<!--\s*(?:=|/|figures\b)[^>]*>?")
_FIRST_IN_LINE = re.compile(r"^[\s>*-]*<!-- (?:=|/ )", re.MULTILINE)


@dataclass(frozen=True)
class MarkDifference:
    """A line that says something else than the files.

    Attributes:
        line: its number, from 1 on.
        says: what stands there.
        should_say: what is in the files.
        source: the mark's words.
    """

    line: int
    says: str
    should_say: str
    source: str

    def __str__(self) -> str:
        return f"line {self.line} says {self.says!r} and should say {self.should_say!r} ({self.source})"


def markdown(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(row)} |".replace("  ", " ") for row in (columns, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(columns), *lines[1:]])


def fill_marks(
    text: str, name: str, files: FigureFiles, tables: Mapping[str, Drawn]
) -> tuple[str, list[MarkDifference]]:
    """A document with all its figures as they are in the files.

    Args:
        text: of the document.
        name: of the document, for messages.
        files: with the figures.
        tables: how each table is drawn, by name.

    Returns:
        The document, and the lines of the given text in which it differs.

    Raises:
        UserError: a mark is incomplete, or names what there is not.
    """
    _check_marks(text, name)
    differences: list[MarkDifference] = []
    parts, end = [], 0
    for place in sorted(
        [*_places(text, name, files, tables), *_linked_figures(text, name, files)], key=lambda each: each.start
    ):
        says = text[place.start : place.end]
        if not _same(says, place.should_say):
            differences += _differences(_line(text, place.start), says, place.should_say, place.source)
            parts += [text[end : place.start], place.should_say]
            end = place.end
    return "".join([*parts, text[end:]]), differences


def figure(address: str, form: str, files: FigureFiles) -> str:
    """Return a figure as text.

    Args:
        address: See ``addresses.Address``.
        form: Python's format, after ``±`` for a mean with its standard error.
        files: The files with the figure.

    Raises:
        UserError: There is no such figure, or it cannot be shown so.
    """
    mean, error = files.mean(address)
    numbers = (mean, error) if form.startswith("±") else (mean,)
    try:
        return " ± ".join(format(each, form.lstrip("±")) for each in numbers if each is not None)
    except ValueError as problem:
        raise DataError(
            f"{excerpt(address)} cannot be shown as {form!r} ({problem}); give a format such as .1f"
        ) from None


@dataclass(frozen=True)
class _Place:
    """A part of a document that comes from files."""

    start: int
    end: int
    should_say: str
    source: str


def _places(text: str, name: str, files: FigureFiles, tables: Mapping[str, Drawn]) -> Iterator[_Place]:
    """Tables and figures between comments."""
    for mark in _MARK.finditer(text):
        source = " ".join((mark["name"] or mark["address"]).split())
        with _locating_errors(name, text, mark.start()):
            if mark["table"] is None:
                yield _Place(*mark.span("inline"), figure(source, mark["format"], files), source)
            elif (place := Address.parse(source)) is not None:
                yield _Place(*mark.span("text"), draw_table(files.table(place.file), place) + "\n", source)
            elif mark["name"] in tables:
                yield _Place(*mark.span("text"), tables[mark["name"]](files) + "\n", source)
            else:
                raise UserError(f"no table {excerpt(mark['name'])}; {suggest_names(mark['name'], tables)}")


def _linked_figures(text: str, name: str, files: FigureFiles) -> Iterator[_Place]:
    """Figures that are the text of a link to their file."""
    for link in _LINK.finditer(text):
        source = link["file"] + link["field"]
        with _locating_errors(name, text, link.start()):
            should_say = figure(source, link["format"], files)
        for use in re.finditer(rf"\[([^\[\]]*)\]\[{re.escape(link['id'])}\]", text):
            yield _Place(*use.span(1), should_say, source)


@contextmanager
def _locating_errors(name: str, text: str, position: int) -> Iterator[None]:
    """Adds document and line to the message of an error."""
    try:
        yield
    except UserError as error:
        raise type(error)(f"{name}, line {_line(text, position)}: {error}") from None


def _same(says: str, should_say: str) -> bool:
    """Whether two texts differ at most in where lines are broken, which is all the same in Markdown's prose."""
    return says == should_say or ("|" not in should_say and says.split() == should_say.split())


def _differences(first: int, says: str, should_say: str, source: str) -> list[MarkDifference]:
    lines = zip_longest(says.splitlines(), should_say.splitlines(), fillvalue="")
    return [MarkDifference(first + number, *pair, source) for number, pair in enumerate(lines) if pair[0] != pair[1]]


def _check_marks(text: str, name: str) -> None:
    whole = [mark.span() for mark in _MARK.finditer(text)]
    for part in _PART.finditer(text):
        if not any(start <= part.start() < end for start, end in whole):
            raise UserError(
                f"{name}, line {_line(text, part.start())}: {excerpt(part[0])} is no whole mark; it takes `<!-- = "
                "FILE.csv#AXIS=LEVEL FORMAT -->...<!-- / -->`, or `<!-- figures: NAME -->` and `<!-- /figures -->`"
            )
    if first := _FIRST_IN_LINE.search(text):
        # Markdown takes the whole line for HTML, and a paragraph for ended.
        raise UserError(f"{name}, line {_line(text, first.end())}: a line begins with a mark; put a word before it")


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
