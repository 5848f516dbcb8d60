"""The command `ov-gather explain`: documentation of rules, and known divergences of runtimes."""

from __future__ import annotations

import click

from ov_gather.cli.output import say, show
from ov_gather.rules.register import RULES
from ov_gather.rules.selection import select_rules


@click.command(name="explain")
@click.argument("rule", required=False)
def command(rule: str | None) -> None:
    """Explain a rule of `ov-gather validate`, e.g. OVG204.

    Without RULE, list all rules; with a group such as OVG4, the rules of the group; with the word "divergences", the known
    divergences of runtimes from ONNX.

    Exit code: 0 done, 2 there is no such rule.
    """
    if rule == "divergences":
        from ov_gather.divergences.register import DIVERGENCES

        for each in DIVERGENCES:
            say(f"{each.name} ({', '.join(each.runtimes)}): {each.why}")
            concerned = ", ".join(each.operations) or "the whole family"
            say(f"    {concerned}; {' or '.join(seen.value for seen in each.observed)}")
        return
    if known := RULES.get(rule or ""):
        show(f"{known.id} {known.name} ({known.severity.value})\n\n{known.documentation}\n")
        return
    for listed in select_rules([rule] if rule else []):
        say(f"{listed.id}  {listed.severity.value:7}  {listed.summary}")
