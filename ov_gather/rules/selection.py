"""Selection of rules by the options --select and --ignore."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ov_gather.rules.base import Rule
from ov_gather.rules.register import RULES
from ov_gather.system.given import texts
from ov_gather.system.suggestions import did_you_mean

GROUP_LENGTH = len("OVG4")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The options of `validate` with these names."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    target: str = ""


def select_rules(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> list[Rule]:
    """Return the rules that are selected (all, if `select` is empty) and not ignored, by id ("OVG401") or group ("OVG4").

    Raises:
        TypeError: `select` or `ignore` is no list of texts.
        ValueError: an id or group is unknown. Skipping it would check less than was asked for.
    """
    select, ignore = texts("select", select, "OVG4"), texts("ignore", ignore, "OVG4")
    for name in (*select, *ignore):
        _require_known(name)
    return [rule for rule in RULES.values() if rule.id.startswith(select or ("",)) and not rule.id.startswith(ignore)]


def _require_known(name: str) -> None:
    known = {rule_id[:length] for rule_id in RULES for length in (GROUP_LENGTH, None)}
    if name in known:
        return
    groups = sorted({rule_id[:GROUP_LENGTH] for rule_id in RULES})
    raise ValueError(f"there is no rule or group '{name}'; {did_you_mean(name, sorted(known), groups)}")
