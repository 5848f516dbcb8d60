"""The command `ov-gather harden`: an OpenVINO model that is safe for any indices."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ov_gather.cli.models import check_ir_output, read_model, write_model
from ov_gather.cli.options import ASSUME, EXTENSION, FORCE, OPS, WRITTEN, Limits
from ov_gather.cli.output import is_quiet, is_verbose, print_all, tell
from ov_gather.cli.paths import FileOf, beside
from ov_gather.system.kinds import IR

if TYPE_CHECKING:
    from ov_gather.acceleration.hardening import Policy
    from ov_gather.extension.users import UserExtension

_POLICIES = ("raise", "clamp", "zero")  # repeated here so that --help does not import OpenVINO


@click.command(name="harden")
@click.argument("model", type=FileOf(IR), metavar="IN.xml")
@click.option("-o", "--output", type=WRITTEN, help="The .xml to write; default: IN.hardened.xml, beside IN.xml.")
@click.option("--policy", required=True, type=click.Choice(_POLICIES), help="What happens for an index out of bounds.")
@click.option("--portable", is_flag=True, help="With --policy raise: use only OpenVINO's own operations.")
@click.option("--guarded", is_flag=True, help="Rely on the guard that `ov-gather prove --guard` writes; harden only the rest.")
@ASSUME
@EXTENSION
@OPS
@FORCE
def command(
    model: Path,
    output: Path | None,
    policy: Policy,
    portable: bool,
    guarded: bool,
    assume: dict[str, Limits],
    extensions: tuple[UserExtension, ...],
    force: bool,
) -> None:
    """Make the gathers and scatters of an OpenVINO IR safe for any indices, in sub-graphs too.

    An index out of bounds makes the inference fail (raise), becomes the nearest index in bounds (clamp), or reads 0 and writes
    nothing (zero). On an empty axis every index raises, whatever the policy. What is proved to be in bounds stays as it is. For
    indices in bounds, results in f32 stay the same, bit by bit.

    Prints what was done to each gather and scatter, and why; many that are proved are counted. To read a result of --policy
    raise, a core needs our extension (`ov_gather.register`), unless --portable is given.

    Exit code: 0 done; 2 failed, and nothing is written.
    """
    from ov_gather.acceleration.harden import harden
    from ov_gather.ops.users import are_declared

    output = output or beside(model, ".hardened.xml")
    check_ir_output(output, [model], force=force)
    if are_declared():
        _check_declarations(model)
    read = read_model(model, extensions)
    summary = harden(read, policy=policy, portable=portable, guarded=guarded, assume=assume)
    write_model(read, output)
    if not is_quiet():
        print_all([str(summary)] if is_verbose() else summary.briefly())
    tell(f"{output}: {len(summary.changed)} of {len(summary.sites)} gathers and scatters changed; guards: {summary.guards}")


def _check_declarations(model: Path) -> None:
    """Raise ValueError if the model contradicts what users declare: like `prove`, nothing is proved of it then."""
    from ov_gather.report.findings import text
    from ov_gather.rules.validation import read_for_proofs

    _, errors = read_for_proofs(model)
    if errors:
        print_all(text.lines(errors), err=True)
        raise ValueError(f"{model}: nothing is proved of a model with errors")
