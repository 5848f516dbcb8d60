"""The page of the site that validates an IR in the browser: Pyodide from npm, our wheel without native code, and the page.

Nothing is fetched from elsewhere when the page is used. NumPy is stood in for by `browser/numpy/`; validation needs no lxml,
and no ml_dtypes.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from tools.sessions import ROOT

PYODIDE = "pyodide@314.0.7"
INTEGRITY = "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
PAGE = Path(__file__).parent / "browser"
SAMPLE = ROOT / "ir_samples" / "invalid" / "OVG204" / "axis_3.xml"
MOST = 15_000_000
"""Most bytes of the page with all that it loads."""


def write(folder: Path) -> None:
    """Write the page.

    Raises:
        FileNotFoundError, CalledProcessError: npm is missing, or cannot get Pyodide; or the wheel cannot be built.
        ValueError: npm gets another package, or the page is too large.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        _write_pyodide(folder / "pyodide", work)
        shutil.copy(_wheel(work), folder / "ov_gather.zip")
    for name in ("page.js", "worker.js"):
        shutil.copy(PAGE / name, folder)
    page = (PAGE / "index.html").read_text().replace("BROKEN_SAMPLE", "\n" + html.escape(SAMPLE.read_text(), quote=False))
    (folder / "index.html").write_text(page)
    with zipfile.ZipFile(folder / "page.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(PAGE.rglob("*.py")):
            archive.writestr(zipfile.ZipInfo(path.relative_to(PAGE).as_posix()), path.read_bytes())
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if size > MOST:
        raise ValueError(f"the page takes {size:,} bytes, more than {MOST:,}")


def _write_pyodide(folder: Path, work: Path) -> None:
    """Take what a page needs out of the package, which is the one that is named here; it needs none of the packages listed."""
    subprocess.run(["npm", "pack", "--silent", PYODIDE], cwd=work, check=True, stdout=subprocess.DEVNULL)
    (package,) = work.glob("pyodide-*.tgz")
    digest = base64.b64encode(hashlib.sha512(package.read_bytes()).digest()).decode()
    if digest != INTEGRITY:
        raise ValueError(f"{package.name} has the digest {digest}, not {INTEGRITY}")
    with tarfile.open(package) as archive:
        archive.extractall(work, filter="data")
    folder.mkdir(exist_ok=True)
    for name in FILES:
        shutil.copy(work / "package" / name, folder)
    lock = json.loads((work / "package" / "pyodide-lock.json").read_text())
    (folder / "pyodide-lock.json").write_text(json.dumps(lock | {"packages": {}}))


def _wheel(work: Path) -> Path:
    """Build the wheel as for pre-commit, whose environment pyproject.toml knows by its name: without native code."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(work)]
    subprocess.run([*command, str(ROOT)], check=True, env=os.environ | {"VIRTUAL_ENV": str(work / "py_env-site")})
    (wheel,) = work.glob("*-none-any.whl")
    return wheel
