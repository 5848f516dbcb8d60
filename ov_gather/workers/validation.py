"""Validation of many files. Each is validated by a worker; the cache is read and written by this process."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from ov_gather.extension.users import UserExtension
from ov_gather.ir.files import STDIN, Place, is_other_xml
from ov_gather.ir.urls import Url
from ov_gather.ops.fields import OperationError
from ov_gather.ops.users import UserOperations, declare, declared_files
from ov_gather.rules.findings import Finding
from ov_gather.rules.selection import Chosen
from ov_gather.rules.validation import not_checked, validate, wrong_declaration
from ov_gather.system.supervision import supervise
from ov_gather.workers import each, processes_for

if TYPE_CHECKING:
    from ov_gather.rules.cache import Cache

_NO_IR = ("OVG002", "OVG003")

Findings = list[Finding] | None
"""The findings in a file; None if it is skipped because it is not an IR."""


@dataclass(frozen=True, slots=True)
class ValidateOptions:
    """The checks for each file, the cache of their findings, and the operations that users declare."""

    chosen: Chosen
    infer: bool = False
    cache: Cache | None = None
    extensions: tuple[UserExtension, ...] = ()
    operations: tuple[UserOperations, ...] = field(default_factory=declared_files)

    def run(self, files: Sequence[Place], jobs: int, scheduler: str | None) -> Iterator[tuple[int, tuple[Findings, bool]]]:
        """Yield the index of each file with its findings, and whether they come from the cache, in the order of completion."""
        entries = (self.cache.entry(str(file), self.chosen) if self.cache else None for file in files)
        items = ((file.absolute() if scheduler else file, entry) for file, entry in zip(files, entries, strict=True))
        function = partial(_check, checks=replace(self, cache=None), is_far=bool(scheduler))

        def died(index: int, how: str) -> tuple[Findings, bytes]:
            is_declaration = how.startswith("ended: ")
            hint = "correct the declaration" if is_declaration else "was there enough memory? fewer processes at once need less"
            return not_checked(str(files[index]), f"the process that checked the file {how}", hint), b""

        results = each(function, items, died, processes=processes_for(files, jobs), scheduler=scheduler)
        for index, (findings, entry) in results:
            name = str(files[index])
            if self.cache and entry:
                self.cache.keep(name, self.chosen, entry)
            if scheduler and findings:
                findings = [replace(finding, location=replace(finding.location, path=name)) for finding in findings]
            yield index, (findings, entry is None)


def _check(item: tuple[Place, bytes | None], checks: ValidateOptions, is_far: bool) -> tuple[Findings, bytes | None]:
    """Return the findings in a file, and its new cache entry: None if the old one holds, b"" if there is none to keep."""
    file, entry = item
    if checks.operations:
        supervise()
    try:
        declare(*checks.operations)
        if entry is None:  # there is no cache
            return _unless_other_xml(file, _validate(file, checks)), b""
        from ov_gather.rules.cache import validate_unless_known

        findings, new = validate_unless_known(file, checks.chosen, entry)
        return _unless_other_xml(file, findings), new
    except Exception as error:  # a bug of ours on one file must not hide findings in others
        if is_far and isinstance(error, ImportError):
            raise  # the worker lacks a package for all files
        return _fault(file, error), b""


def _validate(file: Place, checks: ValidateOptions) -> list[Finding]:
    chosen = checks.chosen
    ignore = (*chosen.ignore, "OVG501") if file == STDIN else chosen.ignore  # standard input has no .bin beside it
    source = sys.stdin.buffer if file == STDIN else file
    return validate(
        source, select=chosen.select, ignore=ignore, infer=checks.infer, target=chosen.target, extensions=checks.extensions
    )


def _unless_other_xml(file: Place, findings: list[Finding]) -> Findings:
    """Return the findings; None if they only say that an XML file listed at a URL is not an IR."""
    is_other = isinstance(file, Url) and file.is_listed and any(finding.rule in _NO_IR for finding in findings)
    return None if is_other and is_other_xml(file) else findings


def _fault(file: Place, error: Exception) -> list[Finding]:
    if isinstance(error, OperationError):
        return wrong_declaration(str(file), error)
    reason = f"the check failed: {type(error).__name__}: {error}"
    hint = "install it where files are checked" if isinstance(error, ImportError) else "this is a fault of ov-gather: report it"
    return not_checked(str(file), reason, hint)
