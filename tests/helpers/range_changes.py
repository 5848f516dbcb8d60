"""What the analysis says of random models, before and after a change of its rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from itertools import islice

from helpers import onnx_subjects, openvino_subjects
from helpers.random_index_models import sample as openvino_sample
from helpers.random_onnx_models import sample as onnx_sample
from helpers.range_analysis import Found, by_openvino
from helpers.range_checks import Bounds, Claim, Terms

Known = Mapping[tuple[str, int], tuple[object, Found]]
"""By the kind and the seed of a random model the model itself, and what was said of it."""
JUDGED = 4
"""So many of the models of which something else is said are judged."""


class Change(Enum):
    """What a change of rules makes of what they say."""

    NONE = "no difference"
    UNSEEN = "nothing executes it"
    LESS = "tells less"
    MORE = "tells more, without a violation"
    OTHER = "tells something else, without a violation"
    VIOLATED = "noticed by random models"


def known_of_models(onnx: int, openvino: int) -> Known:
    found: dict[tuple[str, int], tuple[object, Found]] = {}
    for seed in range(onnx):
        model = onnx_sample(seed).model
        found["onnx", seed] = model, onnx_subjects.by_onnx(model)
    for seed in range(openvino):
        made = openvino_sample(seed).model
        found["openvino", seed] = made, by_openvino(made)
    return found


def changed_seeds(known: Known) -> Iterator[tuple[str, int, Change]]:
    """The models of which something else is said now."""
    for (of, seed), (model, (claims, verdicts)) in known.items():
        try:
            now, judged = onnx_subjects.by_onnx(model) if of == "onnx" else by_openvino(model)
        except Exception:  # whatever it is, it would have been seen
            yield of, seed, Change.VIOLATED
            continue
        kinds = {_compared(_plain(claims[one]), _plain(now[one])) for one in claims} - {Change.NONE}
        statuses = any(verdicts[name].status != judged[name].status for name in verdicts)
        if kinds or statuses:
            yield of, seed, kinds.pop() if len(kinds) == 1 else Change.OTHER if kinds else Change.LESS


def kind_of(changes: Iterable[tuple[str, int, Change]]) -> Change:
    kinds = {kind for *_, kind in changes}
    return Change.NONE if not kinds else kinds.pop() if len(kinds) == 1 else Change.OTHER


def is_violated(changes: Iterable[tuple[str, int, Change]]) -> bool:
    """Whether what is said of some of these models is seen to be wrong."""
    for of, seed, kind in islice(changes, JUDGED):
        judge = onnx_subjects.judge if of == "onnx" else openvino_subjects.judge
        if kind is Change.VIOLATED or judge(seed, lambda stage: True).violations:
            return True
    return False


def _plain(claim: Claim) -> Claim:
    """The claim without the numbers that mark names, which are others in each analysis of an ONNX model."""
    shape = None if claim.shape is None else [_without_marks(dim) for dim in claim.shape]
    parts = None if claim.parts is None else (claim.parts[0], [_plain_bounds(one) for one in claim.parts[1]])
    return Claim(_plain_bounds(claim.elements), shape, parts, claim.may_be_nan)


def _plain_bounds(bounds: Bounds) -> Bounds:
    lows, highs = ([_without_marks(one) for one in side] for side in (bounds.lows, bounds.highs))
    return Bounds(bounds.low, bounds.high, lows, highs)


def _without_marks(polynomial: Terms) -> Terms:
    return sorted((sorted(re.sub(r"#\d+", "#", name) for name in names), factor) for names, factor in polynomial)


def _compared(before: Claim, now: Claim) -> Change:
    if before == now:
        return Change.NONE
    if before.shape != now.shape or before.may_be_nan != now.may_be_nan or before.parts != now.parts:
        is_less = now.shape is None or (now.parts is None and now.shape == before.shape and now.may_be_nan >= before.may_be_nan)
        return Change.LESS if is_less and _is_within(before.elements, now.elements) else Change.OTHER
    if _is_within(before.elements, now.elements):
        return Change.LESS
    return Change.MORE if _is_within(now.elements, before.elements) else Change.OTHER


def _is_within(inner: Bounds, outer: Bounds) -> bool:
    """Whether one says at least as much as the other."""
    symbols = all(one in inner.lows for one in outer.lows) and all(one in inner.highs for one in outer.highs)
    return inner.low >= outer.low and inner.high <= outer.high and symbols
