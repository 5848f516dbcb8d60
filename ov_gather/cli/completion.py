"""Completion of values on the command line: rules, releases and devices."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from ov_gather.runtimes.devices import CPU


def complete_releases(context: click.Context, option: click.Parameter, incomplete: str) -> list[str]:
    """Return the releases that begin with what is typed."""
    from ov_gather.rules.releases import RELEASES

    return [release for release in RELEASES if release.startswith(incomplete)]


def complete_rules(context: click.Context, option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the rules and groups that begin with what is typed."""
    from ov_gather.rules.selection import select_rules

    rules = select_rules()
    groups = dict.fromkeys(rule.id[:4] for rule in rules)
    items = [CompletionItem(group, help="all rules of this group") for group in groups]
    items += [CompletionItem(rule.id, help=rule.summary) for rule in rules]
    return [item for item in items if item.value.startswith(incomplete.upper())]


def complete_devices(context: click.Context, option: click.Parameter, incomplete: str) -> list[str]:
    """Return the devices of the installed OpenVINO that begin with what is typed, and CPU."""
    try:
        import openvino
    except ImportError:
        return [CPU]
    devices = (*openvino.Core().available_devices, "AUTO", "HETERO:CPU", "BATCH:CPU")
    return [device for device in devices if device.startswith(incomplete.upper())]
