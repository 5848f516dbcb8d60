"""Where the parts of the repository are."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "ir_samples"
VALID = SAMPLES / "valid"
TOOLS = ROOT / "tests" / "tools"
