"""The command `ov-gather explain`: rules, known divergences of runtimes, known faults, and refusals of the converters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from ov_gather.cli.completion import complete_rules
from ov_gather.cli.output import say, show
from ov_gather.divergences.refusals import REFUSALS
from ov_gather.plugin.register import ELSEWHERE, KNOWN
from ov_gather.rules.known_faults import RULE_OF
from ov_gather.rules.register import RULES
from ov_gather.rules.selection import select_rules
from ov_gather.system.site import site
from ov_gather.system.suggestions import did_you_mean

if TYPE_CHECKING:
    from ov_gather.divergences.base import Divergence

_ALL, _FAULTS = "divergences", "faults"


def _complete(context: click.Context, argument: click.Parameter, incomplete: str) -> list[CompletionItem]:
    items = [CompletionItem(name, help=found[0].why) for name, found in _divergences().items()]
    items += [CompletionItem(name) for name in (*REFUSALS, *_faults())]
    return [*complete_rules(context, argument, incomplete), *(item for item in items if item.value.startswith(incomplete))]


@click.command(name="explain")
@click.argument("name", required=False, shell_complete=_complete)
def command(name: str | None) -> None:
    """Explain a rule of `validate`, a divergence of `check`, a known fault of OpenVINO, or a refusal of `convert`.

    NAME is e.g. OVG204, no-strings or abs_of_clamp. Without NAME, list all rules; with a group such as OVG4, the rules of the
    group; with the word "divergences", the known divergences of runtimes from ONNX; with the word "faults", the known faults of
    OpenVINO.

    Exit code: 0 done, 2 there is no such name.
    """
    if not name or name.upper().startswith("OVG"):
        _explain_rules(name and name.upper())
    elif name == _ALL:
        for each in (one for found in _divergences().values() for one in found):
            _print(each)
    elif name == _FAULTS:
        for lines in _faults().values():
            show("".join(f"{line}\n" for line in lines))
    elif name in _faults():
        show("".join(f"{line}\n" for line in _faults()[name]))
    elif found := _divergences().get(name):
        for each in found:
            _print(each)
    elif name in REFUSALS:
        say(f"{name}: {REFUSALS[name]}")
    else:
        hint = did_you_mean(name, (*_divergences(), *_faults(), *REFUSALS, *RULES), (_ALL, _FAULTS, *REFUSALS))
        raise click.UsageError(f"there is no rule, divergence, fault or refusal '{name}'; {hint}")


def _explain_rules(name: str | None) -> None:
    if rule := RULES.get(name or ""):
        show(f"{rule.id} {rule.name} ({rule.severity.value})\n\n{rule.documentation}\n")
        return
    for listed in select_rules([name] if name else []):
        say(f"{listed.id}  {listed.severity.value:7}  {listed.summary}")


def _divergences() -> dict[str, list[Divergence]]:
    """Map each name to the divergences that have it, one for each group of runtimes or releases."""
    from ov_gather.divergences.register import DIVERGENCES

    names: dict[str, list[Divergence]] = {}
    for each in DIVERGENCES:
        names.setdefault(each.name, []).append(each)
    return names


def _faults() -> dict[str, list[str]]:
    """Map the name of each report of a fault to the lines that explain it."""
    known = {
        fault.report: [
            f"{fault.report} ({RULE_OF[fault.effect]}): {fault.instead}",
            f"    {', '.join(fault.types)}; {fault.effect.value}{fault.releases and '; '}{fault.releases}",
            f"    {fault.advice}",
            *_reproducer(fault.report),
        ]
        for fault in KNOWN
    }
    others = {name: [f"{name}: {covered}", *_reproducer(name)] for name, covered in ELSEWHERE.items()}
    return dict(sorted((known | others).items()))


def _reproducer(report: str) -> list[str]:
    """Return a line with the address of the page that reproduces a fault, if the site has an address."""
    return [f"    reproducer: {site()}/evidence/upstream/{report}.html"] if site() else []


def _print(divergence: Divergence) -> None:
    say(f"{divergence.name} ({', '.join(divergence.runtimes)}): {divergence.why}")
    concerned = ", ".join(operation.name for operation in divergence.operations) or "the whole family"
    releases = f"; {divergence.releases}" if divergence.releases else ""
    say(f"    {concerned}; {' or '.join(seen.value for seen in divergence.observed)}{releases}")
    if divergence.upstream:
        say(f"    upstream: {', '.join(divergence.upstream)}")
    for line in (line for report in divergence.reports for line in _reproducer(report)):
        say(line)
