"""`ov-gather explain`: what a rule checks, and why; and what is known of runtimes."""

from __future__ import annotations

import click

from ov_gather.rules.selection import select_rules
from ov_gather.rules.validation import RULES


@click.command(name="explain")
@click.argument("rule", required=False)
def command(rule: str | None) -> None:
    """Explain a rule of `ov-gather validate`; without RULE, or with a group (OVG4), list the rules. With the word
    "divergences", list what runtimes are known to do otherwise than ONNX says.

    Exit code: 0 done, 2 there is no such rule.
    """
    if rule == "divergences":
        _print_divergences()
        return
    chosen = sorted(select_rules([rule] if rule else []), key=lambda it: it.id)
    if rule in RULES:
        (it,) = chosen
        click.echo(f"{it.id} {it.name} ({it.severity.value})\n\n{it.documentation}")
        return
    for it in chosen:
        click.echo(f"{it.id}  {it.severity.value:7}  {it.summary}")


def _print_divergences() -> None:
    from ov_gather.divergences import DIVERGENCES

    for known in DIVERGENCES:
        click.echo(f"{known.name} ({', '.join(known.runtimes)}): {known.why}")
        concerned = ", ".join(known.operations) or "the whole family"
        click.echo(f"    {concerned}; {' or '.join(seen.value for seen in known.observed)}")
