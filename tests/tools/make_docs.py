"""Write the current output of commands into the pages: the console sessions in README.md and docs/, and the notebook.

python tests/tools/make_docs.py            write all pages
python tests/tools/make_docs.py PAGE...    write these pages
python tests/tools/make_docs.py --picture  also draw docs/report.png, with the system's Chromium
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import which

from sessions import NOTEBOOK, ROOT, pages, refreshed, refreshed_notebook


def main() -> None:
    """Write the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--picture", action="store_true")
    arguments = parser.parse_args()
    for path in arguments.pages or [*pages(), NOTEBOOK]:
        before = path.read_text()
        if (text := refreshed_notebook() if path.suffix == NOTEBOOK.suffix else refreshed(before)) != before:
            path.write_text(text)
            print(path)
    if arguments.picture:
        draw_report(ROOT / "docs" / "report.png")


def draw_report(path: Path) -> None:
    """Draw the page that `ov-gather check ir_samples/valid --report` writes."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as directory, sync_playwright() as playwright:
        page_file = Path(directory) / "report.html"
        command = [Path(sys.executable).with_name("ov-gather"), "check", "ir_samples/valid", "--report", page_file]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        browser = playwright.chromium.launch(executable_path=which("chromium"), args=["--no-sandbox"] * (os.geteuid() == 0))
        page = browser.new_page(viewport={"width": 1120, "height": 928})
        page.goto(page_file.as_uri())
        page.screenshot(path=path)
        browser.close()


if __name__ == "__main__":
    main()
