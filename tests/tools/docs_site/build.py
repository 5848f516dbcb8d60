"""Build the site of the documentation: python tests/tools/docs_site/build.py SITE [--source-url URL] [--try]

SITE/index.html works without a network, search included. A warning, such as a broken link, is an error. `--source-url` is the
address of the files on a code host, such as https://github.com/OWNER/ov-gather/blob/main: links to them then lead there.
`--try` adds the page that validates an IR in the browser, SITE/try/index.html, which needs a web server; npm gets what it runs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from sphinx.cmd.build import build_main

from tools.docs_site import in_browser
from tools.docs_site.staging import stage


def main() -> int:
    """Build the site; return the exit code of Sphinx."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path)
    parser.add_argument("--source-url", default="")
    parser.add_argument("--try", action="store_true", dest="has_try")
    arguments = parser.parse_args()
    if arguments.has_try:
        in_browser.write(arguments.site / "try")
    with tempfile.TemporaryDirectory() as directory:
        pages = Path(directory) / "pages"
        stage(pages, arguments.source_url.rstrip("/"), has_try=arguments.has_try)
        options = ["--fail-on-warning", "--keep-going", "--quiet", "--jobs", "auto"]
        folders = ["--conf-dir", str(Path(__file__).parent), "--doctree-dir", str(Path(directory) / "trees")]
        return build_main([*options, *folders, str(pages), str(arguments.site)])


if __name__ == "__main__":
    sys.exit(main())
