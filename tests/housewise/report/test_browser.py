"""The report in a real browser: 80 episodes of two planners, by mouse, by keyboard, without script, on a phone.

Two of the episodes are played; the others are copies of their records under other numbers, with other results. They
tell of data that is not here: their pages have no pictures, which would take minutes to make.
"""

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from housewise.report import ReportOptions, write_report
from tests.housewise.report.conftest import play
from tests.housewise.report.pages import EVIL
from tests.record_lines import read_lines, write_lines
from tests.systems.command_runs import run_system

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no browser here: apt-get install chromium")
ALONE = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
PHONE = {"width": 390, "height": 844}
KINDS = ("filmed", "without pictures", "failed")
"""Pages of episodes."""


def copies(folder: Path, count: int) -> None:
    """Fill a run up with copies of its first record; every third fails to put all right, one every ten everything."""
    first = min((folder / "episodes").glob("*.jsonl"))
    lines = read_lines(first)
    header, result = lines[0]["data"], lines[-1]["data"]
    present = len(list((folder / "episodes").glob("*.jsonl")))
    for number in range(100, 100 + count - present):
        header["initial_state"] |= {"scene": f"generated-{number}", "episode": number}
        header |= {"task": f"generated-{number}-{number:04d}", "group": f"generated-{number}"}
        header["settings"]["tasks"]["data"] = "/nowhere/housekeep"
        wrong = number % 3
        scores = result["scores"]
        scores["correct_end"] = scores["objects"] - wrong
        scores["success_rate"] = -0.5 if number % 10 == 0 else 1 - wrong / 4
        path = folder / "episodes" / f"generated-{number}-{number:04d}-run0.jsonl"
        write_lines(path, lines)
    setting = {**header["initial_state"], "episode": 7, "scene": EVIL}
    hostile = {
        "type": "header",
        "data": {**header, "agent": EVIL, "task": EVIL, "group": EVIL, "initial_state": setting},
    }
    failure = {"type": "failure", "data": {"reason": EVIL, "error": EVIL}}
    (folder / "episodes" / "hostile.jsonl.failed").write_text(f"{json.dumps(hostile)}\n{json.dumps(failure)}\n")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The index of 40 episodes and one that failed in each of two runs."""
    folder = tmp_path_factory.mktemp("two planners")
    for planner in ("scripted", "demonstrator"):
        play(folder / planner, planner=planner, max_steps=120)
        copies(folder / planner, 40)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("housewise.report.views.house_page.FRAMES", 10)
        return write_report(folder, options=ReportOptions(episodes=("generated-1-0001-run0",)))


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The index of a lab session with the oracle and of one without an assistant."""
    folder = tmp_path_factory.mktemp("lab")
    shared = ("variant=make_carrot__banana__simple", "mistakes=0", "attempts=2")
    for planner, most in (("oracle", 30), ("silent", 4)):
        run_system("basis", *shared, f"planner={planner}", f"max_actions={most}", "--out", folder / planner)
    return write_report(folder)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=CHROMIUM, args=list(ALONE))
        yield running
        running.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page that complains of nothing until the test is over."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    opened = context.new_page()
    complaints: list[str] = []
    opened.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("dialog", lambda dialog: complaints.append(dialog.message))
    opened.on(
        "request", lambda asked: None if asked.url.startswith(("file:", "data:")) else complaints.append(asked.url)
    )
    yield opened
    context.close()
    assert complaints == []


def shown(page: Any) -> list[str]:
    """The rates of the rows that are seen, in order."""
    rates: list[str] = page.eval_on_selector_all(
        "#list tbody tr", "rows => rows.filter(row => !row.hidden).map(row => row.dataset.rate)"
    )
    return rates


def kinds(report: Path) -> dict[str, Path]:
    """One page of each kind."""
    pages = report.with_suffix("")
    return {
        "index": report,
        "filmed": next(path.with_suffix(".html") for path in pages.rglob("*.mp4")),
        "without pictures": pages / "scripted" / "generated-100-0100-run0.html",
        "failed": pages / "scripted" / "hostile.html",
    }


@pytest.mark.slow
def test_the_index_is_small_and_opens_quickly(report: Path, page: Any, capsys: pytest.CaptureFixture[str]) -> None:
    begun = time.perf_counter()
    page.goto(report.as_uri())
    assert page.locator("#count").inner_text() == "82 of 82 episodes"
    seconds = time.perf_counter() - begun
    size = report.stat().st_size
    with capsys.disabled():
        print(f"\nindex of 82 episodes: {size / 1e6:.2f} MB, opened in {seconds:.2f} s")
    assert size < 1e6


def check_accessible(page: Any, path: Path) -> None:
    """Check that axe finds nothing on a page, on a wide screen and on a phone, and that it fits into their width."""
    page.goto(path.as_uri())
    for size in ({"width": 1280, "height": 900}, PHONE):
        page.set_viewport_size(size)
        found = axe.Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


@pytest.mark.parametrize(
    ("kind", "scheme"),
    [
        ("index", "light"),
        ("index", "dark"),
        *((kind, "light") for kind in KINDS),
        *(pytest.param(kind, "dark", marks=pytest.mark.slow) for kind in KINDS),
    ],
)
def test_nothing_for_axe_to_find_and_nothing_to_scroll_across(report: Path, page: Any, kind: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    check_accessible(page, kinds(report)[kind])


@pytest.mark.parametrize("kind", ["index", "filmed"])
def test_tables_and_map_fit_a_phone(report: Path, page: Any, kind: str) -> None:
    page.set_viewport_size(PHONE)
    page.goto(kinds(report)[kind].as_uri())
    boxes = page.eval_on_selector_all(
        ".wide table, .house .map", "all => all.map(each => [each.getBoundingClientRect().right, each.clientWidth])"
    )
    assert boxes and all(right <= PHONE["width"] and width > 200 for right, width in boxes)
    assert page.eval_on_selector_all(
        ".wide:has(table)", "all => all.every(each => each.scrollWidth <= each.clientWidth)"
    )


def test_every_failing_episode_is_two_clicks_away(report: Path, page: Any) -> None:
    page.goto(report.as_uri())
    rows = page.eval_on_selector_all(
        "#list tbody tr", "rows => rows.map(row => [row.dataset.rate, row.querySelector('a')?.href ?? ''])"
    )
    rates = [float(rate) if rate else float("-inf") for rate, _ in rows]
    assert rates == sorted(rates)
    failing = [href for rate, href in rows if rate == "" or float(rate) < 100]
    assert len(failing) > 40 and len(set(failing)) == len(failing)
    # Every page exists; the browser opens every fifth.
    for href in failing:
        text = Path(unquote(urlsplit(href).path)).read_text(encoding="utf-8")
        assert text.count("<article") == 1 and 'class="score ' in text
    for href in failing[::5]:
        page.goto(href)
        assert page.locator("article").count() == 1
        assert page.locator(".score").inner_text().strip()
    page.goto(report.as_uri())
    page.locator("#list tbody a").nth(3).click()
    there = page.title()
    page.locator("a[rel=next]").click()
    assert page.title() != there
    page.locator("a[rel=prev]").click()
    assert page.title() == there
    assert "scripted" in there or "demonstrator" in there
    page.locator("h1 a").click()
    assert page.locator("#list").is_visible()


def test_by_keyboard(report: Path, page: Any) -> None:
    page.goto(report.as_uri())
    page.locator("#words").focus()
    page.keyboard.type("generated-10 demonstrator")
    assert 1 <= len(shown(page)) < 20 and page.locator("#count").inner_text() == f"{len(shown(page))} of 82 episodes"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert len(shown(page)) == 82
    head = page.locator("#list thead button").filter(has_text="success rate")
    for order, reverse in (("ascending", False), ("descending", True)):
        head.focus()
        page.keyboard.press("Enter")
        assert page.locator("#list th[aria-sort]").get_attribute("aria-sort") == order
        rates = [float(rate) if rate else -1000.0 for rate in shown(page)]
        assert rates == sorted(rates, reverse=reverse)
    page.locator("#filters label", has_text="played by").locator("select").focus()
    page.keyboard.type("demo")
    assert len(shown(page)) == 40
    page.locator("#from").focus()
    page.keyboard.type("0")
    page.locator("#to").focus()
    page.keyboard.type("60")
    assert all(0 <= float(rate) <= 60 for rate in shown(page))
    seen = len(shown(page))
    assert 0 < seen < 40
    # What was chosen is still chosen when one comes back.
    page.locator("#list tbody tr:not([hidden]) a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("article")
    page.go_back()
    page.wait_for_selector("#count")
    assert len(shown(page)) == seen


def test_by_reason_of_failure(report: Path, page: Any) -> None:
    page.goto(report.as_uri())
    wrong = page.locator("#filters label", has_text="went wrong").locator("select")
    options = wrong.locator("option").all_inner_texts()
    assert any("alert(1)" in option for option in options)
    wrong.select_option(label=next(option for option in options if "alert(1)" in option))
    assert shown(page) == ["", ""]


def test_without_script_it_is_a_plain_table(report: Path, browser: Any) -> None:
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(report.as_uri())
    assert plain.locator("#list tbody tr").count() == 82
    assert plain.locator("#list tbody tr").last.is_visible() and not plain.locator("#filters").is_visible()
    assert plain.locator("#list thead th").first.inner_text() == "episode"
    plain.locator("#list tbody a").first.click()
    assert plain.locator("article").count() == 1
    context.close()


def test_films_are_loaded_when_they_are_played(report: Path, page: Any) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(kinds(report)["filmed"].as_uri())
    page.wait_for_load_state("networkidle")
    assert not any(url.endswith(".mp4") for url in asked)
    length = page.locator("video").evaluate(
        """async film => { await film.play(); film.pause(); return [film.duration, film.videoWidth, film.controls]; }"""
    )
    assert length[0] > 1 and length[1] > 800 and length[2] is True
    assert any(url.endswith(".mp4") for url in asked)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_the_pages_of_lab_sessions_have_nothing_for_axe_and_fit_a_phone(lab: Path, page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    pages = lab.with_suffix("")
    files = [*pages.glob("*/*-run0.html"), *pages.glob("side-by-side/*.html")]
    assert len(files) >= 3
    for path in files:
        check_accessible(page, path)


def test_spoken_words_are_found_and_lead_to_the_session(lab: Path, page: Any) -> None:
    page.goto(lab.as_uri())
    page.fill("#words", "crossed-out carrot")
    assert page.locator("#count").inner_text() == "1 of 2 episodes"
    page.click("#list tbody tr:not([hidden]) th a >> nth=0")
    assert "a sign with a crossed-out carrot" in page.inner_text("main")
    page.click("text=Side by side with the other episodes")
    assert page.locator("table.beside thead a").count() == 2
