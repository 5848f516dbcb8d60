"""Random conditions on requests, random requests, and an oracle that evaluates the texts of conditions with NumPy alone."""

from __future__ import annotations

import re
from math import inf, nan

import ml_dtypes
import numpy as np
import openvino as ov
from hypothesis import strategies as st
from openvino import opset13 as ops

from ov_gather.graph.symbols import InputDim
from ov_gather.guards.guard import Guard
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.symbols import END, AxisSlice, Elements
from ov_gather.ranges.proof import Proof
from ov_gather.ranges.prove import graph_of
from ov_gather.ranges.requests import request_terms
from ov_gather.ranges.terms import Condition

FINITE = float(np.finfo(np.float32).max)
KINDS = {
    **{"i8": np.int8, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u64": np.uint64, "boolean": np.bool_},
    **{"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64},
}
NAMES = ("ids", "attention_mask", "x:0", "class", "größe", "a b", "x.1", "np", "_", "0")
NUMBERS = (-300, -129, -10, -3, -1, 0, 1, 2, 5, 9, 127, 255, 300, 2**31 - 1, -(2**31))
FRACTIONS = (0.1, -0.5, 2.75, 1e-3, 1e300, -FINITE, FINITE, 65504.0)


class Case:
    """A model of inputs alone, made-up conditions, and the guard for them."""

    def __init__(self, inputs, requires):
        self.inputs, self.requires = inputs, requires
        nodes = []
        for name, (kind, dims) in inputs.items():
            node = ops.parameter(ov.PartialShape.dynamic() if dims is None else shape_of(dims), getattr(ov.Type, kind), name)
            node.output(0).set_names({name})
            nodes.append(node)
        self.model = ov.Model([ops.result(node) for node in nodes], nodes, "inputs")
        sizes = {f"dim({name}, {axis})": Polynomial.symbol(InputDim(name, axis)) for name, axis in _open_axes(inputs)}
        proofs = [
            Proof(f"layer {number}", "Gather", 0, "conditional", 0, 9, (0, 9), "", conditions_from(inputs, sizes, one))
            for number, one in enumerate(requires)
        ]
        self.terms = request_terms(graph_of(self.model), proofs)
        self.guard = Guard(self.terms)

    def __repr__(self):
        return f"Case({self.inputs!r}, {self.requires!r})"


def conditions_from(inputs, sizes, texts):
    """The conditions that texts write."""
    return tuple(
        Condition(
            _subject(subject, inputs, sizes),
            () if low is None else _evaluated(low, sizes),
            () if high is None else _evaluated(high, sizes),
        )
        for subject, (low, high) in texts.items()
    )


def _subject(subject, inputs, sizes):
    """What a text is about; a part of an input is a pair of its name and slices."""
    if isinstance(subject, tuple):
        name, slices = subject
        return Elements(name, tuple(AxisSlice(axis, *each) for axis, each in enumerate(slices) if each is not None))
    return Elements(subject) if subject in inputs else _evaluated(subject, sizes)[0]


class _Sum:
    """A polynomial of Python's arithmetic."""

    def __init__(self, polynomial):
        self.polynomial = polynomial

    def __add__(self, other):
        return _Sum(self.polynomial + getattr(other, "polynomial", other))

    def __mul__(self, other):
        return _Sum(self.polynomial * getattr(other, "polynomial", other))

    def __neg__(self):
        return _Sum(-self.polynomial)

    def __sub__(self, other):
        return self + -other

    def __pow__(self, exponent):
        return self * self

    __rmul__ = __mul__


def _evaluated(bound, sizes):
    """The bounds that a text writes; several in "min" or "max"."""
    found = bound
    if isinstance(bound, str):
        names = sorted(sizes, key=len, reverse=True)
        for number, name in enumerate(names):
            bound = bound.replace(name, f"DIMS[{number}]")
        known = {"DIMS": [_Sum(sizes[name]) for name in names], "min": lambda *some: some, "max": lambda *some: some}
        found = eval(bound.replace("^", "**"), {"__builtins__": {}}, known)
    found = [getattr(one, "polynomial", one) for one in (found if isinstance(found, tuple) else (found,))]
    return tuple(one.value if isinstance(one, Polynomial) and one.value is not None else one for one in found)


def shape_of(dims):
    return ov.PartialShape([ov.Dimension(*pair) for pair in dims])


def _open_axes(inputs):
    named = [(name, axis, pair) for name, (_, dims) in inputs.items() for axis, pair in enumerate(dims or ())]
    return [(name, axis) for name, axis, (low, high) in named if low != high]


def open_dims(inputs):
    """The names of the open dimensions in the texts of these tests."""
    return [f"dim({name}, {axis})" for name, axis in _open_axes(inputs)]


@st.composite
def inputs_of_models(draw):
    """One to three inputs: the type, and bounds of each dimension; -1 is none, and None is an open rank."""
    dim = st.sampled_from([(0, -1), (0, -1), (1, 4), (0, 3), (2, 2), (3, 3)])
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
    dims = st.one_of(st.none(), st.lists(dim, max_size=3), st.lists(dim, max_size=3))
    return {name: (draw(st.sampled_from(list(KINDS))), draw(dims)) for name in names}


@st.composite
def sums(draw, dims):
    """A text of arithmetic of dimensions."""
    factors = st.lists(st.sampled_from(dims), min_size=1, max_size=2).map(
        lambda names: f"{names[0]}^2" if len(names) == 2 and names[0] == names[1] else " * ".join(names)
    )
    first = draw(st.sampled_from(["", "-", "2 * ", "-3 * "])) + draw(factors)
    second = draw(st.one_of(st.just(""), factors.map(lambda text: f" - {text}"), factors.map(lambda text: f" + 4 * {text}")))
    return first + second + draw(st.sampled_from(["", " - 1", " + 7"]))


@st.composite
def bounds(draw, function, numbers, dims):
    """A number, a text, several in "min" or "max", or None."""
    number = st.sampled_from(numbers)
    if not dims or draw(st.booleans()):
        return draw(st.one_of(st.none(), number, number))
    texts = draw(st.lists(sums(dims), min_size=1, max_size=2, unique=True))
    if draw(st.booleans()):
        texts.append(str(draw(number)))
    return texts[0] if len(texts) == 1 else f"{function}({', '.join(texts)})"


@st.composite
def parts(draw, name, rank):
    """A part of an input: start, stop and step of a slice of some of its axes; END and negative ends count from its end."""
    ends = st.tuples(
        st.sampled_from([0, 0, 1, 2, -1, -2]), st.sampled_from([END, END, 1, 2, 3, 99, -1]), st.sampled_from([1, 1, 2])
    )
    return name, tuple(draw(st.lists(st.none() | ends, min_size=rank, max_size=rank).filter(any)))


@st.composite
def cases(draw):
    """A case with up to four conditions."""
    inputs = draw(inputs_of_models())
    dims = open_dims(inputs)
    requires = []
    for _ in range(draw(st.integers(0, 4))):
        subject = draw(st.sampled_from([*inputs, *inputs, *dims]))
        if subject in inputs:
            kind, shape = inputs[subject]
            subject = draw(parts(subject, len(shape))) if shape and draw(st.booleans()) else subject
            numbers = NUMBERS + (FRACTIONS if "f" in kind else ())
            pair = draw(bounds("max", numbers, dims)), draw(bounds("min", numbers, dims))
        elif draw(st.booleans()):
            sign = draw(st.sampled_from("*+"))
            subject, pair = f"{subject} {sign} {draw(st.sampled_from(dims))}", (None, draw(st.sampled_from([4, 9, 100])))
            subject = re.sub(r"^(.*) \* \1$", r"\1^2", subject)
        else:
            pair = draw(bounds("max", (0, 1, 2), dims)), draw(bounds("min", (1, 3, 512), dims))
        requires.append({subject: pair})
    return Case(inputs, requires)


@st.composite
def feeds(draw, case):
    """A request, mostly with the right inputs, types and shapes; strided or not."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return random_feed(case, rng)


def random_feed(case, rng):
    """A request, mostly with the right inputs, types and shapes; strided or not."""
    feed = {}
    for name, (kind, dims) in case.inputs.items():
        sizes = [rng.integers(0, 4) for _ in range(rng.integers(0, 3))] if dims is None else []
        for low, high in dims or ():
            sizes.append(int(rng.integers(low, (high if high >= 0 else 5) + 1)) if rng.random() < 0.97 else 6)
        array = random_elements(rng, kind, [2 * size for size in sizes] if rng.random() < 0.3 else sizes)
        array = array[tuple(slice(None, None, 2) for _ in sizes)] if list(array.shape) != sizes else array
        feed[name] = array if rng.random() < 0.98 else array.astype(np.int16)
    if rng.random() < 0.03:
        feed.pop(next(iter(feed)))
    return {**feed, "other": np.zeros(1)} if rng.random() < 0.03 else feed


def random_elements(rng, kind, shape):
    """Elements that are mostly small, and sometimes extreme."""
    dtype = np.dtype(KINDS[kind])
    small = rng.integers(0 if kind[0] in "ub" else -3, 2 if kind == "boolean" else 9, shape)
    if kind == "boolean":
        return np.where(rng.random(shape) < 0.05, 7, small).astype(np.uint8).view(np.bool_)
    with np.errstate(all="ignore"):
        large = np.array(rng.choice(NUMBERS, shape), object)
        if "f" in kind:
            numbers = rng.choice([*FRACTIONS, *NUMBERS, nan, inf, -inf], shape)
            return np.where(rng.random(shape) < 0.1, numbers, small).astype(dtype)
        held = np.iinfo(dtype)
        large = (
            np.clip(large, held.min, held.max) if large.shape else np.array(min(max(int(large), held.min), held.max), object)
        )
        return np.where(rng.random(shape) < 0.1, large, small).astype(dtype)


def is_allowed(case, feed):
    """The oracle: whether a request has the declared inputs and meets all conditions, which are evaluated as texts."""
    if set(feed) != set(case.inputs):
        return False
    for name, (kind, dims) in case.inputs.items():
        array = feed[name]
        if array.dtype != KINDS[kind] or (dims is not None and array.ndim != len(dims)):
            return False
        if any(
            size < low or (high >= 0 and size > high)
            for size, (low, high) in zip(array.shape, dims or (), strict=dims is not None)
        ):
            return False
    sizes = {f"dim({name}, {axis})": size for name, array in feed.items() for axis, size in enumerate(array.shape)}
    return all(_holds(subject, pair, feed, sizes) for one in case.requires for subject, pair in one.items())


def _holds(subject, pair, feed, sizes):
    low, high = (end if value is None else _number(value, sizes) for value, end in zip(pair, (-inf, inf), strict=True))
    if isinstance(subject, tuple):
        name, slices = subject
        array = feed[name][tuple(slice(None) if each is None else slice(*each) for each in slices)]
    elif subject not in feed:
        return low <= _number(subject, sizes) <= high
    else:
        array = feed[subject]
    array = array.view(np.uint8) if array.dtype == np.bool_ else array
    numbers = array.astype(np.float64) if array.dtype.kind not in "iu" else array
    return all(low <= number <= high for number in numbers.ravel().tolist())


def _number(value, sizes):
    """Evaluate a bound: names become numbers, the longest first."""
    if not isinstance(value, str):
        return value
    for name in sorted(sizes, key=len, reverse=True):
        value = value.replace(name, str(sizes[name]))
    return eval(value.replace("^", "**"), {"__builtins__": {}}, {"min": min, "max": max})
