"""The pages as people see them: accessible, complete without JavaScript, on a narrow screen and on paper, and asking nobody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_core_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

REPORTS = ("clean", "failed", "hostile")
EVERY = (*REPORTS, "overview")


@contextmanager
def opened(browser: Browser, path: Path, **options: Any) -> Iterator[Page]:
    context = browser.new_context(**options)
    page = context.new_page()
    page.goto(path.as_uri())
    yield page
    context.close()


def rows_of(path: Path) -> list[dict[str, Any]]:
    return list(json.loads((path.parent / "verdict.json").read_text(encoding="utf-8"))["requirements"])


@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", EVERY)
def test_axe_finds_no_violation(
    browser: Browser, pages: dict[str, Path], name: str, scheme: Literal["light", "dark"], width: int
) -> None:
    size = {"width": width, "height": 900}
    with opened(browser, pages[name], color_scheme=scheme, viewport=size, bypass_csp=True) as page:
        found = Axe().run(page)

    assert [(entry["id"], entry["nodes"][0]["html"]) for entry in found["violations"]] == []
    assert len(found["passes"]) > 15


@pytest.mark.parametrize("name", REPORTS)
def test_the_page_says_everything_without_javascript(browser: Browser, pages: dict[str, Path], name: str) -> None:
    with opened(browser, pages[name], java_script_enabled=False) as page:
        text = " ".join(page.inner_text("body").split())

    rows = rows_of(pages[name])
    assert len(rows) > 100
    for row in rows:
        for part in (row["id"], row["case"], row["says"], row["outcome"], row["source"], row["found"][:2000]):
            assert " ".join(part.split()) in text, row["id"]
        if row["outcome"] == "failed":
            assert row["remedy"] in text


@pytest.mark.parametrize("name", EVERY)
def test_the_page_asks_nobody_and_runs_nothing(browser: Browser, pages: dict[str, Path], name: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    asked: list[str] = []
    told: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: told.append(dialog.message))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("console", lambda message: told.append(message.text))
    page.goto(pages[name].as_uri())
    page.wait_for_load_state("networkidle")
    context.close()

    assert [url for url in asked if not url.startswith("data:")] == [pages[name].as_uri()]
    assert told == []


@pytest.mark.parametrize("name", EVERY)
def test_a_narrow_screen_scrolls_down_only(browser: Browser, pages: dict[str, Path], name: str) -> None:
    with opened(browser, pages[name], viewport={"width": 320, "height": 800}) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        narrowest = page.eval_on_selector_all(
            ".scroll > table td:not(.number)", "found => Math.min(...found.map(one => one.offsetWidth))"
        )
        assert narrowest >= 48


@pytest.mark.parametrize("name", REPORTS)
def test_paper_has_every_requirement_and_no_control(browser: Browser, pages: dict[str, Path], name: str) -> None:
    with opened(browser, pages[name]) as page:
        page.emulate_media(media="print")
        rows = page.locator(".matrix tbody tr")
        assert rows.count() == len(rows_of(pages[name]))
        assert all(rows.nth(number).is_visible() for number in range(rows.count()))
        assert not page.locator("nav").is_visible()
        assert not page.locator("#show-open").is_visible()
        assert page.pdf(format="A4").startswith(b"%PDF")


def test_the_matrix_is_filtered_without_javascript(browser: Browser, pages: dict[str, Path]) -> None:
    rows = rows_of(pages["failed"])
    settled = ("passed", "recorded", "not applicable", "attested", "waived")
    with opened(browser, pages["failed"], java_script_enabled=False) as page:
        page.get_by_label("only what did not pass").check()
        left = page.locator(".matrix tbody tr:visible").count()
        page.get_by_label("only what is judged").check()
        judged = page.locator(".matrix tbody tr:visible").count()
        page.get_by_text("HST · Host").click()
        assert not page.locator("#HST-04").is_visible()

    assert left == sum(row["outcome"] not in settled for row in rows)
    assert judged == sum(row["level"] != "RECORD" for row in rows)
    assert 0 < left < judged < len(rows)


@pytest.mark.parametrize("name", REPORTS)
def test_every_link_leads_somewhere(browser: Browser, pages: dict[str, Path], name: str) -> None:
    with opened(browser, pages[name]) as page:
        links = page.eval_on_selector_all("a[href]", "found => found.map(link => link.getAttribute('href'))")
        ids = set(page.eval_on_selector_all("[id]", "found => found.map(one => one.id)"))

    assert len(links) > 50
    for link in links:
        assert link[1:] in ids if link.startswith("#") else (pages[name].parent / link).is_file(), link


def test_pictures_have_a_text_that_says_the_same(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["clean"]) as page:
        titles = [page.locator("svg[role=img] title").nth(number).text_content() for number in range(3)]
        alternatives = page.eval_on_selector_all("img", "found => found.map(image => image.alt)")

    assert [str(title).split(":")[0].split(" over ")[0] for title in titles] == [
        "Stages by time",
        "GPU memory in use",
        "Rates by file",
    ]
    assert alternatives == ["A page with a headline made up for this run", "The same page without any text"]
