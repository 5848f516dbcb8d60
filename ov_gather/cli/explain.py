"""`ov-gather explain`: what a rule checks, and why."""

from __future__ import annotations

import click

from ov_gather.rules.selection import select_rules
from ov_gather.rules.validation import RULES


@click.command(name="explain")
@click.argument("rule", required=False)
def command(rule: str | None) -> None:
    """Explain a rule of `ov-gather validate`; without RULE, or with a group (OVG4), list the rules.

    Exit code: 0 done, 2 there is no such rule.
    """
    chosen = sorted(select_rules([rule] if rule else []), key=lambda it: it.id)
    if rule in RULES:
        (it,) = chosen
        click.echo(f"{it.id} {it.name} ({it.severity.value})\n\n{it.documentation}")
        return
    for it in chosen:
        click.echo(f"{it.id}  {it.severity.value:7}  {it.summary}")
