"""A guard and the model hardened for it, on extreme requests: refused, or executed without an index out of bounds.

The models are random, with index arithmetic in bodies, too. A crash of the process is a finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from pathlib import Path

import numpy as np

from helpers.index_sites import Arrays
from helpers.random_index_models import sample
from helpers.random_openvino import Sample
from helpers.range_subjects import OpenvinoSubject
from helpers.range_trials import Trial, keeps, trial_within, trials
from helpers.worker_process import DiedError, Worker
from ov_gather import guard, harden, prove
from ov_gather.guards.guard import Guard

TRIALS = 25
SECONDS = 120
POLICIES = ("clamp", "zero")
"""Policies under which OpenVINO executes everything; with "raise", some operations raise because of an index that is seen."""

ADDED = "added"
"""The beginning of the names of nodes that `harden` has added."""


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Guard and harden a model, and send it requests, unless OpenVINO dies of the model that is hardened without a guard."""
    seed, policy = int(rng.integers(1 << 48)), str(rng.choice(POLICIES))
    try:
        WORKER.call((seed, policy, False), SECONDS / 2)
    except DiedError:
        return
    send((seed, policy, True))


def send(task: tuple[int, str, bool]) -> Counter[str]:
    """Send requests to a random model that is hardened. Return how many were refused, executed or not judged."""
    seed, policy, guarded = task
    one, rng = sample(seed), np.random.default_rng(seed)
    check, proofs = guard(one.model), prove(one.model)
    hardened = one.model.clone()
    harden(hardened, policy=policy, guarded=guarded)
    own = {node.get_friendly_name() for node in one.model.get_ops()}
    for position, node in enumerate(hardened.get_ordered_ops()):
        if node.get_friendly_name() not in own:  # the checks of `harden` raise because of an index of their own
            node.set_friendly_name(f"{ADDED}{position}_{node.get_type_name()}")
    subject = OpenvinoSubject(Sample(one.inputs, one.sizes, hardened, []), lambda stage: True, {})
    subject.analysed()
    found: Counter[str] = Counter()
    met = (trial_within("within", one, rng, proof.requires) for proof in proofs if proof.status == "conditional")
    for trial in (*trials(one, rng), *(trial for trial in met if trial is not None)):
        found[_tried(subject, check, trial, all(keeps(trial, proof.requires) for proof in proofs))] += 1
    return found


WORKER = Worker(send, daemon=True)


def _tried(subject: OpenvinoSubject, check: Guard, trial: Trial, is_good: bool) -> str:
    try:
        check(dict(zip(trial.names, trial.arrays, strict=True)))
    except ValueError as error:
        assert not is_good, f"{trial.label}: {error}: but all conditions are met"
        return "refused"
    assert is_good, f"{trial.label}: a condition is broken, and the guard lets it pass: {trial}"
    seen = subject.observe(trial)
    if seen is None:
        return "not judged"
    doubtful = _doubtful(subject, seen)
    for site in (one for one in subject.sites if not one.name.startswith(ADDED)):
        outside = site.outside(seen) if doubtful.isdisjoint((site.index[0], site.data[0])) else None
        assert outside is None or not outside.any(), f"{trial.label}: {site} is out of bounds: {seen[site.index]}"
    return "executed"


def _doubtful(subject: OpenvinoSubject, seen: Arrays) -> Set[str]:
    """Return the operations that OpenVINO may compute wrongly, or anew in each inference, and those that depend on them."""
    found = set(subject.miscomputed) | subject.unsteady(seen)
    found |= {name for (name, position), array in seen.items() if not subject.fits((name, position), array)}
    for operation in subject.operations:
        if any(name in found for name, _ in operation.operands):
            found.add(operation.name)
    return found
