"""Iteration of `ov-gather validate` over files: in this process, in several, or on a cluster."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ov_gather.ir.files import Place, is_other_xml
from ov_gather.ir.urls import Url
from ov_gather.rules.findings import Finding
from ov_gather.rules.selection import Chosen
from ov_gather.rules.validation import not_checked, validate

if TYPE_CHECKING:
    from ov_gather.rules.cache import Cache

T = TypeVar("T")

STDIN = Path("-")

_NO_IR = ("OVG002", "OVG003")

Checked = tuple[list[Finding] | None, bool]
"""The findings in a file, None if it is skipped because it is not an IR; and whether they come from the cache."""


@dataclass(frozen=True, slots=True)
class ValidateOptions:
    """The checks for each file, and the cache of their findings."""

    chosen: Chosen
    infer: bool = False
    cache: Cache | None = None

    def run(self, files: Sequence[Place], jobs: int, scheduler: str | None) -> Iterator[tuple[int, Checked]]:
        """Yield the index of each file with its findings, in the order of completion."""
        if scheduler:
            return self._on_cluster(files, scheduler)
        return each(partial(_check, checks=self), _died, files, jobs)

    def _on_cluster(self, files: Sequence[Place], scheduler: str) -> Iterator[tuple[int, Checked]]:
        """Check files on workers. Cache entries are sent to the workers, and new ones are stored here."""
        from ov_gather.cli.cluster import in_cluster
        from ov_gather.cli.processes import Died

        there = partial(_check_there, checks=replace(self, cache=None), keeps=self.cache is not None)
        entries = (self.cache.entry(str(file), self.chosen) if self.cache else b"" for file in files)
        items = ((file.absolute(), entry) for file, entry in zip(files, entries, strict=True))
        for index, result in in_cluster(there, items, scheduler):
            name = str(files[index])
            if isinstance(result, Died):
                yield index, _died(files[index], str(result))
                continue
            findings, entry = result
            named = findings and [replace(finding, location=replace(finding.location, path=name)) for finding in findings]
            if self.cache and entry:
                self.cache.keep(name, self.chosen, entry)
            yield index, (named, entry is None)


def each(
    check: Callable[[Place], T], died: Callable[[Place, str], T], files: Sequence[Place], jobs: int
) -> Iterator[tuple[int, T]]:
    """Yield the index of each file with the result of `check`, in the order of completion; `died` replaces a missing result."""
    if min(jobs, len(files)) < 2:
        yield from enumerate(map(check, files))
        return
    from ov_gather.cli.processes import Died, in_processes

    for index, result in in_processes(check, files, jobs):
        yield index, died(files[index], str(result)) if isinstance(result, Died) else result


def _died(file: Place, how: str) -> Checked:
    hint = "was there enough memory? fewer processes at once need less"
    return not_checked(str(file), f"the process that checked the file {how}", hint), False


def _check(file: Place, checks: ValidateOptions) -> Checked:
    """Return the findings in a file."""
    chosen = checks.chosen
    try:
        if checks.cache:
            findings, is_known = checks.cache.validate(file, chosen)
            return _unless_other_xml(file, findings), is_known
        return _unless_other_xml(file, _validate(file, checks)), False
    except Exception as error:  # a bug of ours on one file must not hide findings in others
        return _fault(file, error), False


def _check_there(item: tuple[Place, bytes], checks: ValidateOptions, keeps: bool) -> tuple[list[Finding] | None, bytes | None]:
    """Check a file on a worker, unless its cache entry is valid. Return its findings and new entry, None if it was valid."""
    file, entry = item
    try:
        if keeps:
            from ov_gather.rules.cache import validate_unless_known

            findings, new = validate_unless_known(file, checks.chosen, entry)
            return _unless_other_xml(file, findings), new
        return _unless_other_xml(file, _validate(file, checks)), b""
    except ImportError:
        raise  # the worker lacks a package for all files
    except Exception as error:  # as above
        return _fault(file, error), b""


def _validate(file: Place, checks: ValidateOptions) -> list[Finding]:
    chosen = checks.chosen
    ignore = (*chosen.ignore, "OVG501") if file == STDIN else chosen.ignore  # standard input has no .bin beside it
    source = sys.stdin.buffer if file == STDIN else file
    return validate(source, select=chosen.select, ignore=ignore, infer=checks.infer, target=chosen.target)


def _unless_other_xml(file: Place, findings: list[Finding]) -> list[Finding] | None:
    """Return the findings; None if they only say that an XML file listed at a URL is not an IR."""
    is_other = isinstance(file, Url) and file.is_listed and any(finding.rule in _NO_IR for finding in findings)
    return None if is_other and is_other_xml(file) else findings


def _fault(file: Place, error: Exception) -> list[Finding]:
    reason = f"the check failed: {type(error).__name__}: {error}"
    hint = "install it where files are checked" if isinstance(error, ImportError) else "this is a fault of ov-gather: report it"
    return not_checked(str(file), reason, hint)
