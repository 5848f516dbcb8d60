"""Lines below the table that compares a converted model with its original."""

from __future__ import annotations

from ov_gather.crosscheck.results import CrossCheckResult


def summary(result: CrossCheckResult) -> list[str]:
    """Return the lines: reference, omissions, gathers to blame, and counts."""
    versions = ", ".join(f"{name} {version}" for name, version in result.environment.versions.items())
    reference = next(iter(result.environment.versions))
    lines = [f"{result.path}: compared with {reference} on the original: {versions}; seed {result.seed}."]
    lines += [f"{result.path}: {result.problem}"] if result.problem else []
    lines += [f"{result.path}: {note}" for note in result.notes]
    if result.not_run:
        return [*lines, f"{result.path}: not verified: {result.not_run}"]
    lines += [f"{name} is in a body, and not compared on its own" for name in result.in_bodies]
    failed = not result.passed and all(layer.passed for layer in result.layers) and not result.problem
    if failed and result.blamed:
        lines.append(
            f"Every gather is right on its own operands, but not in the model: with our operations in the place of "
            f"{', '.join(result.blamed)} the outputs are right. Convert it with --target extension."
        )
    elif failed:
        lines.append("Every gather is right on its own operands: what differs comes from elsewhere in the model.")
    count = sum(layer.passed for layer in result.layers)
    outputs = sum(output.comparison.passed for output in result.outputs)
    lines.append(
        f"outputs: {len(result.outputs)}, passed: {outputs}; gathers: {len(result.layers)}, passed: {count}: "
        f"{'passed' if result.passed else 'FAILED'}"
    )
    return lines
