"""Count the instructions of the kernel on aarch64, in an emulator: `python tests/tools/neon_counts.py`.

Needs Debian, with: apt install g++-aarch64-linux-gnu qemu-user. Patterns of `ov-gather bench`, of smaller sizes, are computed
by the kernel and by a plain loop with the same checks, both compiled with -O3. Prints rows of a Markdown table: the executed
instructions per moved element. These are no times: neither caches nor the width of a CPU count.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

from aarch64 import NEEDED, PREFIX, ROOT

KERNEL, SOURCES = ROOT / "ov_gather" / "native" / "kernel", Path(__file__).parent / "neon"
PATTERNS = ("rows", "columns", "vector", "embedding", "gather_nd_pixels", "scatter", "scatter_last")
STRICT = ("-std=c++17", "-Wall", "-Wextra", "-Werror")
RELEASE = ("-O3", "-DNDEBUG", "-static", "-ffp-contract=off", "-DOV_GATHER_ISA=baseline", f"-I{KERNEL}")


def built(folder: Path) -> list[object]:
    """Compile the plugin that counts, and the patterns; return the command that counts."""
    plugin, patterns = folder / "instructions.so", folder / "patterns"
    subprocess.run(["g++", "-O2", *STRICT, "-shared", "-fPIC", SOURCES / "instructions.cpp", "-o", plugin], check=True)
    sources = [*KERNEL.glob("*.cpp"), SOURCES / "patterns.cpp"]
    subprocess.run([f"{PREFIX}-g++", *STRICT, *RELEASE, *sources, "-o", patterns], check=True)
    return ["qemu-aarch64", "-plugin", plugin, "-d", "plugin", patterns]


def counted(command: list[object], pattern: str, who: str) -> tuple[int, int, str]:
    """Return the executed instructions, the moved elements, and the sum of the output."""
    done = subprocess.run([*map(str, command), pattern, who], capture_output=True, text=True, check=True)
    elements, total = done.stdout.split()
    return int(done.stderr), int(elements), total


def main() -> int:
    if missing := [NEEDED[tool] for tool in (f"{PREFIX}-g++", "qemu-aarch64") if which(tool) is None]:
        print(f"this needs Debian's packages: apt install {' '.join(missing)}", file=sys.stderr)
        return 2
    with TemporaryDirectory() as folder:
        command = built(Path(folder))
        print("| pattern | ours | plain loop |\n| --- | --- | --- |")
        for pattern in PATTERNS:
            (ours, elements, total), (plain, _, expected) = (counted(command, pattern, who) for who in ("ours", "plain"))
            if total != expected:
                print(f"{pattern}: the results differ", file=sys.stderr)
                return 1
            before, _, _ = counted(command, pattern, "none")
            print(f"| {pattern} | {(ours - before) / elements:.1f} | {(plain - before) / elements:.1f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
