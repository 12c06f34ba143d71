"""Reads the pages of a report in tests."""

from html.parser import HTMLParser
from pathlib import Path

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31m\u202e{{ 7 * 7 }}"
"""Words that must stay words."""

VOID = {"meta", "img", "source", "br", "link", "input"}


class Page(HTMLParser):
    """A parsed page, whose tags are checked to be balanced."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.title = ""
        self.options: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))
        self.close()
        assert self.open == []

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((name, dict(attributes)))
        if name not in VOID:
            self.open.append(name)

    def handle_endtag(self, name: str) -> None:
        assert self.open.pop() == name

    def handle_data(self, text: str) -> None:
        self.text += text
        if self.open and self.open[-1] == "title":
            self.title += text
        if self.open and self.open[-1] == "option":
            self.options.append(text)

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]


def assert_words_stay_words(page: Page, images: bool = False) -> None:
    """Check that a page shows ``EVIL`` words, which do nothing. It may have images of its own."""
    assert not page.all("script") and "<script>alert(1)</script>" in page.text and "{{ 7 * 7 }}" in page.text
    assert all(images and (image["src"] or "").startswith("data:image/") for image in page.all("img"))
    assert "\x1b" not in page.text and "\u202e" not in page.text


def page_of(folder: Path) -> Path:
    """Return the page of the worst episode."""
    return next(path for path in sorted((folder / "report").rglob("*.html")))
