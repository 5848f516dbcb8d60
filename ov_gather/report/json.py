"""JSON, as every report for programs is written."""

from __future__ import annotations

import json
from typing import Any


def document(content: Any) -> str:
    """Return a file of JSON in ASCII. No name in it starts a command of a CI service that reads it in a log."""
    text = json.dumps(content, indent=2).replace("\x7f", r"\u007f")
    return text.replace("##", r"#\u0023") + "\n"
