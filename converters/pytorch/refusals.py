"""Sentences for the programs that OpenVINO's front end, or PyTorch on the way to it, does not convert."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import explained
from .sites import IndexUse

if TYPE_CHECKING:
    import torch

_INSTEAD: Mapping[str, str] = {
    "aten.index_reduce.default": "x.scatter_reduce(dim, the index expanded to the shape of source, source, reduce)",
    "aten.masked_select.default": "x[mask]",
    "aten.take.default": "torch.take(x, index.reshape(1)).reshape(())",
    "aten.topk.default": "x.reshape(1).topk(k)",
}
"""What to write instead of a call that is refused; those of take and topk are if a tensor is 0-d."""
_LIBRARY = "name a library with a ConversionExtension for PyTorch by --extension (extensions= in Python)"
_NOISE = ("Check '", "FrontEnd API", "Exception ", "While validating", "Shape inference input shapes")


def refusal(message: str, module: torch.fx.GraphModule, sites: Sequence[IndexUse]) -> str:
    """Return a message of the front end as sentences: operator and name of each node, the reason, and what to do instead."""
    sentences = [*_unknown(message, module), *_failed(message, {site.name: site for site in sites})]
    return "; ".join(sentences) or explained(message, "Summary", "Model")


def undecomposed(message: str) -> str:
    """Return a message of PyTorch about a program that it cannot decompose into the operators that OpenVINO converts."""
    found = re.search(r"While executing %(\w+) : .*call_function\[target=torch\.ops\.([\w.]+)\]", message)
    place = f"node {found[2]} '{found[1]}'" if found else "the program"
    reason = message.strip().partition("\n")[0].strip()
    return f"PyTorch cannot decompose {place} for OpenVINO: {reason}{_instead(found and found[2])}"


def _unknown(message: str, module: torch.fx.GraphModule) -> Iterator[str]:
    listed = re.search(r"No conversion rule found for operations: (.*)", message)
    names = listed[1].strip().split(", ") if listed else []
    for name in names:
        nodes = [f"'{node.name}'" for node in module.graph.nodes if str(node.target) == name]
        yield f"OpenVINO has no conversion for node {name} {', '.join(nodes)}{_instead(name)}, or {_LIBRARY}"


def _failed(message: str, sites: Mapping[str, IndexUse]) -> Iterator[str]:
    """Yield a sentence for each operator whose conversion failed; those that take an output of another only follow it."""
    details, _, summary = message.partition("Summary:")
    is_followed = "aten." in summary
    for text in details.split("\n-- ")[1:]:
        operation = re.search(r"during conversion of operation (.+?)/(.+) with schema", text)
        if operation is None or (is_followed and operation[2] == "<built-in function getitem>"):
            continue
        reason = [line.strip() for line in text.splitlines()[1:] if line.strip() and not line.strip().startswith(_NOISE)]
        site = sites.get(operation[1].removesuffix("_indexed"))
        node = str(site or f"node {operation[2]} '{operation[1]}'")
        yield f"OpenVINO cannot convert {node}: {' '.join(reason).rstrip('.') or 'it gives no reason'}{_instead(operation[2])}"


def _instead(operator: str | None) -> str:
    return f"; write {_INSTEAD.get(operator or '', 'it with other operators before the export')}"
