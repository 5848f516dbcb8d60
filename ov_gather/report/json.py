"""JSON documents, as all JSON and SARIF reports are written."""

from __future__ import annotations

import json
from typing import Any


def document(content: Any) -> str:
    """Return a JSON file in ASCII, in which no name can act as a command (`##...`) of a CI service that scans the log."""
    text = json.dumps(content, indent=2).replace("\x7f", r"\u007f")
    return text.replace("##", r"#\u0023") + "\n"
