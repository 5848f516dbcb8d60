"""The command `ov-gather oldest`: the oldest release of OpenVINO that has what a model needs."""

from __future__ import annotations

import sys

import click

from ov_gather.cli.options import JOBS, TIMEOUT_OF_SERVERS
from ov_gather.cli.output import say, with_progress
from ov_gather.cli.validating import EXCLUDE, PATHS, SKIP_OTHER_XML, find, shown_name
from ov_gather.ir.files import STDIN, Place
from ov_gather.rules.oldest import OldestRelease, oldest_release


@click.command(name="oldest")
@PATHS
@EXCLUDE
@SKIP_OTHER_XML
@JOBS
@TIMEOUT_OF_SERVERS
def command(paths: tuple[Place, ...], exclude: tuple[str, ...], skip_other_xml: bool, jobs: int) -> None:
    """Print the oldest OpenVINO that has the operations and element types of each IR, without any runtime.

    PATH is as for `ov-gather validate`, whose option --target lists what a release lacks. `ov-gather lower` rewrites an IR for
    an older release.

    Exit code: 0 done; 1 a file cannot be read, or no release has what it needs; 2 bad arguments, or there is no IR.
    """
    from ov_gather.report.findings.text import oldest_line
    from ov_gather.workers import each, processes_for

    files = find(paths, exclude, skip_other_xml).files

    def died(index: int, how: str) -> OldestRelease:
        return OldestRelease("", f"the process that read the file {how}")

    results = each(_oldest, files, died, processes=processes_for(files, jobs))
    found = dict(with_progress(results, len(files), "reading"))
    for index, file in enumerate(files):
        say(oldest_line(shown_name(file), found[index]))
    sys.exit(0 if all(result.release for result in found.values()) else 1)


def _oldest(file: Place) -> OldestRelease:
    return oldest_release(sys.stdin.buffer if file == STDIN else file)
