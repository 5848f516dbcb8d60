"""Idioms of Loop and Scan, in whose bodies the layer between stands, too."""

from __future__ import annotations

import numpy as np

from helpers.idiom import ALONE, OUTSIDE_OF_BODIES, Idiom
from helpers.idioms_of_numbers import BIG


def _scan(body: str) -> Idiom:
    """Return a Scan of a state p and elements r, whose body makes the next state u and a part v of the second output."""
    return Idiom(
        {"s": np.float32([0.7, 0.8]), "x": np.arange(-2, 4, dtype=np.float32).reshape(3, 2) / 10},
        f"""last, z = Scan <num_scan_inputs = 1, body = inner (float[2] p, float[2] r) => (float[2] u, float[2] v)
        {{ one = Constant<value = float[2] {{1, 2}}>() {body} }}> (s, x) a = Identity(last)""",
        "float",
        "y = Identity(b)",
        "float[2] y, float[3, 2] z",
        layers=ALONE,
        places=OUTSIDE_OF_BODIES,
    )


def _loop(body: str) -> Idiom:
    """Return a Loop of states p and r, whose body makes the next ones u and v."""
    return Idiom(
        {"s": np.float32([1, 2]), "t": np.float32([3, 5])},
        f"""trip = Constant<value = int64 {{3}}>() going = Constant<value = bool {{1}}>()
        last, z = Loop (trip, going, s, t) <body = inner (int64 k, bool go_on, float[2] p, float[2] r) =>
        (bool still, float[2] u, float[2] v) {{ still = Identity(go_on) flat = Constant<value = int64[1] {{-1}}>() {body} }}>
        a = Identity(last)""",
        "float",
        "y = Identity(b)",
        "float[2] y, float[2] z",
        layers=ALONE,
        places=OUTSIDE_OF_BODIES,
    )


def _unread_state(body: str, trip: int, going: bool) -> Idiom:
    """Return a Loop whose body does not read its state, and makes the next one u of t."""
    return Idiom(
        {"s": np.float32([1, 2]), "t": np.float32([10, -20]), "trip": np.int64(trip), "going": np.array(going)},
        f"""last = Loop (trip, going, s) <body = inner (int64 k, bool go_on, float[2] p) =>
        (bool still, float[2] u) {{ still = Identity(go_on) {body} }}> a = Identity(last)""",
        "float",
        "y = Identity(b)",
        "float[2] y",
        layers=ALONE,
        places=OUTSIDE_OF_BODIES,
    )


def _recurrent(operator: str, gates: int, direction: str) -> Idiom:
    """Return a recurrent operator, of two sequences with the lengths a: it has so many gates in its weights."""
    directions = 2 if direction == "bidirectional" else 1
    weights = ", ".join(str(number % 7 / 8 - 0.25) for number in range(directions * gates * 4))
    outputs, cells = ("y, h, c", f", float[{directions}, 2, 2] c") if operator == "LSTM" else ("y, h", "")
    return Idiom(
        {"x": np.arange(-6, 6, dtype=np.float32).reshape(3, 2, 2), "l": np.int32([3, 1])},
        "a = Identity(l)",
        "int32",
        f"""w = Constant<value = float[{directions}, {gates * 2}, 2] {{{weights}}}>()
        {outputs} = {operator}<hidden_size = 2, direction = "{direction}">(x, w, w, , b)""",
        f"float[3, {directions}, 2, 2] y, float[{directions}, 2, 2] h{cells}",
        (operator,),
        places=("top", "If", "Scan"),
        share=3,
    )


OF_LOOPS = {
    **{
        f"{operator} {direction} of shorter sequences": _recurrent(operator, gates, direction)
        for operator, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1))
        for direction in ("forward", "reverse", "bidirectional")
    },
    "a state that is a view of another": Idiom(
        {"s": np.float32([1, 2]), "t": np.float32([3, 4])},
        """trip = Constant<value = int64 {3}>() going = Constant<value = bool {1}>()
        y, z = Loop (trip, going, s, t) <body = inner (int64 k, bool go_on, float[2] p, float[2] r) =>
        (bool still, float[2] u, float[2] v) { still = Identity(go_on) u = Add(p, r) a = Identity(p)""",
        "float",
        "v = Identity(b) }>",
        "float[2] y, float[2] z",
        places=OUTSIDE_OF_BODIES,
    ),
    "no iterations": Idiom(
        {"s": np.float32([1, 2]), "t": np.float32([3, 4]), "trip": np.int64(0)},
        """going = Constant<value = bool {1}>()
        y = Loop (trip, going, s) <body = inner (int64 k, bool go_on, float[2] p) =>
        (bool still, float[2] v) { still = Identity(go_on) a = Identity(t)""",
        "float",
        "v = Identity(b) }>",
        "float[2] y",
        places=OUTSIDE_OF_BODIES,
    ),
    "a delayed state": Idiom(
        {"s": np.float32([7]), "x": np.float32([[10], [20], [30]])},
        """y, z = Scan <num_scan_inputs = 1, body = inner (float[1] p, float[1] r) =>
        (float[1] u, float[1] v) { a = Identity(r)""",
        "float",
        "u = Identity(b) v = Identity(p) }> (s, x)",
        "float[1] y, float[3, 1] z",
        places=OUTSIDE_OF_BODIES,
    ),
    "a state of its element": Idiom(
        {"s": np.float32([0, 0]), "x": np.arange(6, dtype=np.float32).reshape(3, 2)},
        """y = Scan <num_scan_inputs = 1, body = inner (float[2] p, float[2] r) =>
        (float[2] u) { d = Constant<value = float[2] {1, 2}>() a = Add(r, d)""",
        "float",
        "u = Add(p, b) }> (s, x)",
        "float[2] y",
        places=OUTSIDE_OF_BODIES,
    ),
    "an element that is not read": Idiom(
        {"s": np.float32([1, 2]), "x": np.zeros((3, 2), np.float32)},
        "y = Scan <num_scan_inputs = 1, body = inner (float[2] p, float[2] r) => (float[2] u) { a = Add(p, p)",
        "float",
        "u = Identity(b) }> (s, x)",
        "float[2] y",
        places=OUTSIDE_OF_BODIES,
    ),
    **{
        f"Scan: {body}": _scan(body)
        for body in (
            "u = Add(p, r) v = Identity(u)",
            "u = Add(r, p) v = Identity(u)",
            "m = Add(r, one) u = Add(p, m) v = Identity(u)",
            "m = Mul(r, one) u = Sub(p, m) v = Identity(u)",
            "m = Tanh(r) u = Add(p, m) v = Identity(u)",
            "m = Add(p, one) u = Add(m, r) v = Identity(u)",
            *(f"m = Add(r, p) u = {unary}(m) v = Identity(u)" for unary in ("Abs", "Exp", "Neg", "Relu", "Sigmoid", "Tanh")),
            "u = Max(r, p) v = Identity(u)",
            "u = Sub(r, p) v = Identity(u)",
            "m = Mul(p, one) h = Mul(r, one) u = Add(m, h) v = Identity(u)",
            "m = Mul(p, one) h = Mul(r, one) u = Add(h, m) v = Identity(u)",
            "u = Identity(r) v = Identity(p)",
            "u = Identity(r) v = Add(p, r)",
            "u = Neg(r) v = Identity(p)",
            "u = Add(r, one) v = Identity(p)",
            "u = Identity(r) v = Identity(one)",
            "u = Identity(p) v = Add(p, r)",
            "u = Identity(p) v = Add(r, r)",
            "u = Add(p, p) v = Identity(u)",
            "u = Add(p, p) v = Neg(p)",
            "h = Shape(r) m = Reshape(p, h) u = Add(m, m) v = Neg(m)",
            "u = Identity(p) v = Identity(one)",
            """w = Constant<value = float[2, 2] {1, 0, 0, 1}>() m = MatMul(p, w) h = Add(r, one) g = Add(m, h) u = Relu(g)
            v = Neg(p)""",
        )
    },
    **{
        f"Loop: {body}": _loop(body)
        for body in (
            "u = Add(p, r) v = Identity(p)",
            "u = Add(p, r) v = Reshape(p, flat)",
            "u = Add(p, r) v = Neg(p)",
            "u = Identity(r) v = Identity(p)",
            "u = Reshape(r, flat) v = Reshape(p, flat)",
            "v = Add(p, r) u = Reshape(r, flat)",
            "u = Identity(p) v = Reshape(p, flat)",
        )
    },
    **{
        f"Loop of {trip} iterations while {going}: {body}": _unread_state(body, trip, going)
        for trip, going in ((0, True), (2, False), (2, True))
        for body in (
            "u = Add(t, t)",
            "h = Shape(p) u = Expand(t, h)",
            "u = Constant<value = float[2] {5, 6}>()",
            """u = If(going)<then_branch = p1 () => (float[2] c) { c = Identity(t) },
            else_branch = q1 () => (float[2] d) { d = Neg(t) }>""",
        )
    },
    "Loop of no iterations whose state a Loop does not read": _unread_state(
        """two = Constant<value = int64 {2}>() yes = Constant<value = bool {1}>() u = Loop (two, yes, p) <body = within
        (int64 j, bool m, float[2] c) => (bool n, float[2] d) { n = Identity(m) d = Neg(t) }>""",
        0,
        True,
    ),
    "a Scan of two states": Idiom(
        {"s": np.float32(1), "t": np.float32(2), "x": np.float32([10, 20, 30])},
        """y, z, w = Scan <num_scan_inputs = 1, body = inner (float p, float q, float r) => (float u, float v, float o)
        { u = Identity(q) a = Identity(r)""",
        "float",
        "v = Identity(b) o = Add(p, q) }> (s, t, x)",
        "float y, float z, float[3] w",
        layers=("nothing", "plus 0"),
        places=OUTSIDE_OF_BODIES,
    ),
    **{
        f"a delayed state of {kind}": Idiom(
            {"s": np.array(7, kind), "x": np.array([10, 20, 30], kind)},
            f"""y, z = Scan <num_scan_inputs = 1, body = inner ({kind} p, {kind} r) => ({kind} u, {kind} v)
            {{ a = Identity(r)""",
            kind,
            "u = Identity(b) v = Identity(p) }> (s, x)",
            f"{kind} y, {kind}[3] z",
            layers=("nothing", "plus 0", "Where"),
            places=OUTSIDE_OF_BODIES,
        )
        for kind in ("int32", "int64", "uint8")
    },
    **{
        f"Where of {name}": Idiom(
            {"x": BIG, "z": BIG[::-1].copy()},
            f"o = Constant<value = int32 {{6}}>() {before}",
            "bool",
            "y = Where(b, x, z)",
            "int32[4] y",
            layers=("nothing", "Cast"),
        )
        for name, before in {
            "numbers": "a = Cast<to = 9>(x)",
            "several comparisons": "d = Less(x, o) e = Equal(x, o) a = Or(d, e)",
        }.items()
    },
}
