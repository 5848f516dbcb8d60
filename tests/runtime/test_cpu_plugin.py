"""What we say the CPU plugin computes against the CPU plugin itself, bit by bit."""

from dataclasses import dataclass
from functools import partial
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.pairwise import pairwise
from ov_gather.divergences import cpu_plugin, cpu_scatters
from ov_gather.divergences.cpu_plugin import BASELINE, Arithmetic, arithmetics_here
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import by_name
from ov_gather.ir.shapes import UNKNOWN, PartialShape
from ov_gather.runtimes.base import RefusedError
from ov_gather.runtimes.isolated import IsolatedRuntime
from ov_gather.system.worker import CrashedError

CPUS = ["this CPU", "AVX2"]


@dataclass
class Live:
    """The plugin in a process of its own, and the arithmetic that we say it has there."""

    runtime: IsolatedRuntime
    arithmetic: Arithmetic


@pytest.fixture(scope="module")
def alive():
    """The plugins that were started, by runtime and CPU."""
    started = {}
    yield started
    for live in started.values():
        live.runtime.stop()


@pytest.fixture(params=CPUS)
def cpu(request, monkeypatch):
    """This machine's CPU, or the same restricted to AVX2; processes that start during the test see this one."""
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA", raising=False)
    if request.param == "AVX2":
        monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    return request.param


def started(alive, name, cpu):
    """Return a plugin of this runtime and CPU, which is started once."""
    if (name, cpu) not in alive:
        (arithmetic,) = arithmetics_here() if cpu == "this CPU" else (BASELINE,)
        alive[name, cpu] = Live(IsolatedRuntime(name), arithmetic)
    return alive[name, cpu]


@pytest.fixture
def openvino(alive, cpu):
    return started(alive, "openvino", cpu)


@dataclass
class Layer:
    """An operation with its operands: a model for OpenVINO, and as much of a view as the predictions need."""

    name: str
    attributes: dict
    operands: list
    constant_ports: tuple = ()

    @property
    def operation(self):
        return SimpleNamespace(name=self.name, type=self.name.partition("-")[0])

    def attributes_for(self, operands):
        return self.attributes

    def constant(self, port):
        return self.operands[port] if port in self.constant_ports else None

    def model(self):
        layer_type, version = self.name.split("-")
        is_ours = version == "ov_gather"
        opset = version if is_ours else f"opset{4 if self.name == 'ScatterNDUpdate-3' else version}"
        builder = ModelBuilder("model")
        inputs = []
        for port, (element_type, array) in enumerate(self.operands):
            if port in self.constant_ports:
                inputs.append(builder.const(f"input{port}", element_type, array))
            else:
                inputs.append(builder.parameter(f"input{port}", element_type, PartialShape.of(array.shape)))
        if "axis" in self.attributes and not is_ours:
            inputs.append(builder.const("axis", by_name("i64"), np.array(self.attributes["axis"])))
        text = {name: str(value).lower() for name, value in self.attributes.items() if is_ours or name != "axis"}
        (output,) = builder.layer(layer_type, "layer", opset, text, inputs, [(self.operands[0][0], UNKNOWN)])
        builder.result("output", output)
        return builder.build()

    def executed_on(self, live):
        with live.runtime as runtime:
            runtime.activate(self.model())
            given = [array for port, (_, array) in enumerate(self.operands) if port not in self.constant_ports]
            return runtime.execute(given)[0]

    def predicted(self, by, arithmetic):
        return by(self, [array for _, array in self.operands], arithmetic)


def operand(type_name, values):
    element_type = by_name(type_name)
    return element_type, np.asarray(values).astype(element_type.dtype)


def scatter(name, type_name, data, indices, updates, **attributes):
    return Layer(name, attributes, [operand(type_name, data), operand("i64", indices), operand(type_name, updates)])


def assert_predicted(live, layer, by):
    real, predicted = layer.executed_on(live), layer.predicted(by, live.arithmetic)
    assert (real.dtype, real.shape) == (predicted.dtype, predicted.shape)
    if layer.attributes.get("reduction", "none") != "none" and real.dtype.kind in "fV":  # nobody specifies which NaN results
        real[np.isnan(real)] = predicted[np.isnan(predicted)] = np.nan
    same = (real == predicted).all() if real.dtype.hasobject else real.tobytes() == predicted.tobytes()
    assert same, f"{real.tolist()} is not {predicted.tolist()}"


GATHERS = ["Gather-1", "Gather-7", "Gather-8"]


@pytest.mark.parametrize(
    ("cpu", "name", "constants", "data_type"),
    pairwise(CPUS, GATHERS, [(), (0,), (1,), (0, 1)], ["f32", "i64", "string", "i8"]),
    indirect=["cpu"],
    ids=str,
)
def test_gather(openvino, name, constants, data_type):
    words = np.array(["", "b", "cc", "ддд", "e" * 40], object)
    values = words[np.arange(70) % 5] if data_type == "string" else np.arange(10, 80)
    indices = [-1, 0, 69, 70, -70, -71, 100, 2**32 + 1, -(2**32) - 1, 2**31, 2**62]
    layer = Layer(name, {"axis": 0}, [operand(data_type, values), operand("i64", indices)], constants)
    assert_predicted(openvino, layer, cpu_plugin.gathered)


@pytest.mark.parametrize(
    ("cpu", "name", "data_type", "sizes"),
    pairwise(CPUS, GATHERS, ["i16", "u64"], [(64, 64), (65, 64), (64, 65)]),
    indirect=["cpu"],
    ids=str,
)
def test_short_gather_does_not_check(openvino, name, data_type, sizes):
    layer = Layer(name, {"axis": 0}, [operand(data_type, np.ones(sizes[0])), operand("i64", np.full(sizes[1], 10**9))])
    if sizes == (64, 64):
        with pytest.raises(CrashedError, match="SIGSEGV"):
            layer.executed_on(openvino)
    else:
        assert_predicted(openvino, layer, cpu_plugin.gathered)


@pytest.mark.parametrize(
    ("cpu", "name", "index_type"),
    pairwise(CPUS, ["Gather-7", "Gather-8"], ["i8", "i16", "i32", "i64"]),
    indirect=["cpu"],
)
def test_gather_of_batches(openvino, name, index_type, rng):
    data, indices = rng.standard_normal((2, 5, 3)), rng.integers(-9, 9, (2, 7))
    layer = Layer(name, {"axis": 1, "batch_dims": 1}, [operand("f32", data), operand(index_type, indices)])
    assert_predicted(openvino, layer, cpu_plugin.gathered)


SPECIAL = {
    "f32": [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5, -2.5, 3e38, 1e-40],
    "f16": [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5, -2.5, 65504, 1e-7],
    "bf16": [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5, -2.5, 3e38, 1e-40],
    "f8e4m3": [np.nan, -0.0, 0.0, 1.5, -2.5, 448, 2**-9, -(2**-8)],
    "f8e5m2": [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5, -2.5, 57344, 2**-16, -(2**-15)],
    "i8": [127, -128, 5, -5, 100],
    "u8": [0, 255, 128, 7],
    "i16": [32767, -32768, 5, -5, 30000],
    "u16": [0, 65535, 60000, 7],
    "i32": [2**31 - 1, -(2**31), 5, -5, 7],
    "u32": [0, 2**31, 2**32 - 1, 7],
    "i64": [2**31 + 7, -(2**31) - 7, 5, -5, 2**40 + 3],
    "u64": [0, 2**32 + 3, 2**63, 7],
}


# The plugin has an arithmetic for most (type, reduction, initial value); that of bf16 is another on each CPU.
REDUCTIONS = [*product(["none", "sum", "prod", "min", "max", "mean"], [True, False])]
SCATTERS = dict.fromkeys([*pairwise(CPUS, SPECIAL, REDUCTIONS), *product(CPUS, ["bf16"], REDUCTIONS)])


@pytest.mark.sampled(7)
@pytest.mark.parametrize(("cpu", "type_name", "reduction"), sorted(SCATTERS), indirect=["cpu"], ids=str)
def test_scatter(openvino, type_name, reduction, rng):
    reduction, use_init_val = reduction
    for _ in range(3):
        values = [rng.choice(np.array(SPECIAL[type_name], by_name(type_name).dtype), size) for size in ((6, 2), (9, 2))]
        attributes = {"axis": 0, "reduction": reduction, "use_init_val": use_init_val}
        layer = scatter("ScatterElementsUpdate-12", type_name, values[0], rng.integers(-6, 6, (9, 2)), values[1], **attributes)
        assert_predicted(openvino, layer, cpu_scatters.scattered)


@pytest.mark.parametrize("reduction", ["sum", "prod", "mean"])
@pytest.mark.parametrize("use_init_val", [True, False])
def test_scatter_rounds_bf16(openvino, reduction, use_init_val, rng):
    """Numbers of many sizes, so that every step rounds, and shapes of up to three dimensions."""
    for _ in range(4):
        shape = rng.integers(1, 6, rng.integers(1, 4))
        axis = int(rng.integers(len(shape)))
        sizes = [int(rng.integers(1, size + 1)) for size in shape]
        sizes[axis] = 11
        data, updates = (rng.standard_normal(of) * 10.0 ** rng.integers(-3, 3, of) for of in (tuple(shape), sizes))
        indices = rng.integers(-shape[axis], shape[axis], sizes)
        attributes = {"axis": axis, "reduction": reduction, "use_init_val": use_init_val}
        layer = scatter("ScatterElementsUpdate-12", "bf16", data, indices, updates, **attributes)
        assert_predicted(openvino, layer, cpu_scatters.scattered)


@pytest.mark.sampled(22)
@pytest.mark.parametrize(
    ("cpu", "type_name", "reduction", "depth"),
    pairwise(CPUS, SPECIAL, ["none", "sum", "sub", "prod", "min", "max"], [1, 2]),
    indirect=["cpu"],
)
def test_scatter_nd(openvino, type_name, reduction, depth, rng):
    values = [
        rng.choice(np.array(SPECIAL[type_name], by_name(type_name).dtype), size) for size in ((6, 2), (9, 2)[: 3 - depth])
    ]
    tuples = rng.integers(-2, 2, (9, depth))
    if reduction == "none":  # no place twice, as the order of threads decides the last one
        tuples = np.array([*np.ndindex((6, 2)[:depth])])
        values[1] = np.resize(values[1], (len(tuples), *values[1].shape[1:]))
    layer = scatter("ScatterNDUpdate-15", type_name, values[0], tuples, values[1], reduction=reduction)
    assert_predicted(openvino, layer, cpu_scatters.scattered)


@pytest.mark.parametrize(("name", "reduction"), [("ScatterElementsUpdate-12", "sum"), ("ScatterNDUpdate-15", "sub")])
@pytest.mark.parametrize("count", [255, 256, 257])
def test_scatter_adds_booleans_as_bytes(openvino, name, reduction, count):
    indices, axis = (np.zeros((count, 1)), {}) if "ND" in name else (np.zeros(count), {"axis": 0})
    layer = scatter(name, "boolean", [False, True], indices, np.ones(count), reduction=reduction, **axis)
    assert_predicted(openvino, layer, cpu_scatters.scattered)


@pytest.mark.sampled(1)
def test_our_scatters_of_bf16_and_booleans(alive, cpu, rng):
    live = started(alive, "extension", cpu)
    for name, reduction in product(("ScatterElements", "ScatterND"), ("add", "mul", "min")):
        attributes = {"reduction": reduction} | ({"axis": 0} if name == "ScatterElements" else {})
        rest = () if name == "ScatterElements" else (1,)
        given = [("bf16", rng.standard_normal(6), rng.integers(-6, 6, (9, *rest)), rng.standard_normal(9))]
        given += [("boolean", [False, True], np.zeros((count, *rest)), np.ones(count)) for count in (255, 256)]
        for each in given:
            assert_predicted(live, scatter(f"{name}-ov_gather", *each, **attributes), cpu_scatters.scattered_by_ours)


def test_scatter_nd_of_older_releases():
    """Before 2026.4 only the place that a tuple names was checked, as measured from 2024.6.0 to 2026.3.1."""

    def written(place):
        layer = scatter("ScatterNDUpdate-3", "f32", np.zeros((3, 4)), [place], [1.0])
        return layer.predicted(partial(cpu_scatters.scattered, by_coordinate=False), BASELINE)

    for place, row in (([0, 5], 5), ([1, -5], 3), ([0, -1], 3), ([0, 11], 11)):
        assert np.flatnonzero(written(place)).tolist() == [row]
    for place in ([2, 4], [3, 0], [0, 10**9], [-(10**9), 0]):
        with pytest.raises(IndexError):
            written(place)


def test_scatter_lets_threads_race():
    """What is permitted of a race: each element is an update of its place, or stays where there is none."""

    def permitted(found, indices, updates):
        layer = scatter("ScatterNDUpdate-3", "f32", [7, 8, 9], indices, updates)
        return layer.predicted(partial(cpu_scatters.written_in_any_order, found=np.float32(found)), BASELINE)

    with pytest.raises(IndexError):
        permitted([7, 8, 9], [[3]], [1])
    for found, expected in (([2, 4, 9], [1, 1, 1]), ([2, 1, 9], [1, 1, 1]), ([1, 2, 8], [0, 0, 0]), ([7, 8, 9], [0, 0, 1])):
        assert permitted(found, [[1], [0], [1], [-2]], [1, 2, 3, 4]).tolist() == [bool(bit) for bit in expected]


def test_a_short_scatter_does_not_check(openvino):
    for data_type, sizes, error in (("i32", 64, CrashedError), ("i32", 65, RefusedError), ("u8", 64, RefusedError)):
        for index in (10**9, -(10**9)):
            with pytest.raises(error):
                scatter("ScatterUpdate-3", data_type, np.ones(sizes), [0, index], [1, 2], axis=0).executed_on(openvino)


@pytest.mark.parametrize("name", ["ScatterNDUpdate-3", "ScatterNDUpdate-15"])
def test_scatter_nd_checks_every_coordinate(openvino, name):
    for place in ([0, 4], [0, -5], [3, 0], [-4, 0], [2, 10**9]):
        with pytest.raises(RefusedError, match="non-existing"):
            scatter(name, "f32", np.zeros((3, 4)), [place], [1.0]).executed_on(openvino)


@pytest.mark.parametrize("type_name", ["f8e4m3", "f8e5m2"])
def test_scatter_of_every_f8(openvino, type_name):
    every = np.arange(256, dtype=np.uint8).view(by_name(type_name).dtype)
    layer = scatter("ScatterElementsUpdate-3", type_name, every, np.arange(0, 256, 2), every[::2], axis=0)
    assert_predicted(openvino, layer, cpu_scatters.scattered)


@pytest.mark.parametrize("name", ["GatherND-5", "GatherND-8"])
@pytest.mark.parametrize("index", [10**9, -(10**9)])
def test_gather_nd_does_not_check(openvino, name, index):
    layer = Layer(name, {"batch_dims": 0}, [operand("f32", np.zeros(5)), operand("i64", [[index]])])
    with pytest.raises(CrashedError, match="SIGSEGV"):
        layer.executed_on(openvino)


@pytest.mark.parametrize("name", ["ScatterElementsUpdate-3", "ScatterElementsUpdate-12"])
def test_scatter_checks_but_the_upper_bound(openvino, name):
    for index, error in ((5, RefusedError), (10**9, RefusedError), (-(10**9), CrashedError)):
        with pytest.raises(error):
            scatter(name, "f32", np.zeros(5), [index], [1.0], axis=0).executed_on(openvino)
