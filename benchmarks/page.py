"""Opening a run's pages in headless Chromium: our report beside pytest-html's log of the same run."""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from rich.console import Console
from rich.table import Table

from benchmarks.measuring import tell_machine

ROOT = Path(__file__).resolve().parent.parent
OURS, OTHER = "report.html", "log.html"
# From the start of the navigation to the end of the load event, by the browser's own clock.
LOADED_MS = "performance.getEntriesByType('navigation')[0].loadEventEnd"


def rehearsed(folder: Path) -> Path:
    """Run a rehearsal, and return its bundle."""
    bundle = folder / "bundle"
    argv = [sys.executable, "-m", "pytest", "-m", "qualify", "--deployment=rehearsal", f"--bundle={bundle}"]
    subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    return bundle


def opening_ms(browser: Browser, path: Path) -> float:
    """Open a page in a new context, and return how long that took."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(path.as_uri())
    page.wait_for_function(f"{LOADED_MS} > 0")
    took = float(page.evaluate(LOADED_MS))
    context.close()
    return took


def main() -> int:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bundle", type=Path, help="a bundle (default: a rehearsal's)")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    table = Table("page", "bytes", "opened, median of n", "ours is … × as fast", title=f"{options.rounds} rounds")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        bundle = options.bundle or rehearsed(Path(folder))
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        opening_ms(browser, bundle / OURS)  # the browser's own start
        took: dict[str, list[float]] = {OURS: [], OTHER: []}
        for _ in range(options.rounds):
            for name, times in took.items():
                times.append(opening_ms(browser, bundle / name))
        browser.close()
        median = {name: statistics.median(times) for name, times in took.items()}
        for name, value in median.items():
            size = (bundle / name).stat().st_size
            table.add_row(name, f"{size:,}", f"{value:.0f} ms", f"{value / median[OURS]:.2f}")
    tell_machine()
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
