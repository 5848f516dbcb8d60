"""What the page calls: validate an IR in the file system of Pyodide, and mend it."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

from ov_gather.report.findings.json import finding_object
from ov_gather.rules.mending import mend
from ov_gather.rules.validation import validate

warnings.simplefilter("ignore")  # of the compiled kernel, which is missing


def validated(path: str) -> str:
    """Return JSON: the findings in a file, and how many of them `ov-gather fix` mends."""
    done = mend(Path(path), unsafe=False)
    findings = validate(path) if done.mended else done.left  # the same, and large models take long
    return json.dumps({"findings": [*map(finding_object, findings)], "mendable": len(done.mended)})


def mended(path: str) -> str:
    """Mend a file in place, as `ov-gather fix` does, and return JSON: the difference, and the names of the changed files."""
    done = mend(Path(path), unsafe=False)
    difference = "\n".join(done.diff())
    done.write()
    changed = [path] if done.document != done.before else []
    changed += [str(done.weights.path)] if done.weights.is_patched else []
    return json.dumps({"difference": difference, "changed": changed})
