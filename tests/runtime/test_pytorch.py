"""Exported programs of PyTorch do on OpenVINO what PyTorch does: with indices in bounds, and with those that it refuses."""

import re
import warnings

import numpy as np
import openvino
import pytest

import ov_gather
from ov_gather.converters import ConversionError, LossyConversionWarning, convert_model
from ov_gather.runtimes.base import OutOfBoundsError
from ov_gather.runtimes.session import Session

torch = pytest.importorskip("torch")
functional = torch.nn.functional

X = torch.arange(20.0).reshape(5, 4)
ROWS = torch.tensor([0, 2, 4])
ELEMENTS = torch.tensor([[0, 1], [2, 3], [1, 1]])
CUBE = X.reshape(5, 2, 2)
INPUTS = ((X, ELEMENTS), (X, ROWS), (CUBE, ROWS))


class Module(torch.nn.Module):
    """A function of x and indices as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x, indices):
        return self.function(x, indices)


def program(function, *arguments, is_open=False):
    sizes = tuple(dict.fromkeys(range(given.ndim), torch.export.Dim.AUTO) for given in arguments) if is_open else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what PyTorch calls itself
        return torch.export.export(Module(function), arguments, dynamic_shapes=sizes)


def converted(exported, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LossyConversionWarning)
        return convert_model(exported, **options)


def execute(model, *tensors):
    return Session(ov_gather.register(openvino.Core()), model)([given.numpy() for given in tensors])


def set_columns(x, i):
    y = x.clone()
    y[:, i - 1] = torch.arange(15.0).reshape(5, 3)
    return y


FUNCTIONS = {
    "gather": (lambda x, i: torch.gather(x, 1, i), X, ELEMENTS),
    "take_along_dim": (lambda x, i: torch.take_along_dim(x, i[:1], 1), X, ELEMENTS),
    "scatter": (lambda x, i: torch.scatter(x, 1, i, torch.ones(5, 4)), X, ELEMENTS),
    "scatter, value": (lambda x, i: torch.scatter(x, 0, i, 9.0), X, ELEMENTS),
    "scatter_add": (lambda x, i: torch.scatter_add(x, 1, i, torch.ones(3, 2)), X, ELEMENTS),
    "scatter_reduce": (lambda x, i: torch.scatter_reduce(x, 1, i, x - 9, "amax", include_self=False), X, ELEMENTS),
    "scatter_reduce, mean": (lambda x, i: torch.scatter_reduce(x, 1, i, 2 * x, "mean"), X, ELEMENTS),
    "index_select": (lambda x, i: torch.index_select(x, 0, i), X, ROWS),
    "embedding": (lambda x, i: functional.embedding(i.reshape(3, 1), x), X, ROWS),
    "take": (lambda x, i: torch.take(x, i * 4), X, ROWS),
    "x[i]": (lambda x, i: x[i - 5], X, ROWS),
    "x[:, i]": (lambda x, i: x[:, i - 4], X, ROWS),
    "x[i, i]": (lambda x, i: x[i - 4, i - 4], X, ROWS),
    "x[i.T, i]": (lambda x, i: x[i[:, None], i[None] % 4], X, ROWS),
    "x[mask]": (lambda x, i: x[x > i[1]], X, ROWS),
    "index_add": (lambda x, i: x.index_add(0, i, torch.ones(3, 4), alpha=3), X, ROWS),
    "index_copy": (lambda x, i: x.index_copy(0, i, torch.ones(3, 4)), X, ROWS),
    "index_put": (lambda x, i: x.index_put((i - 5,), torch.tensor(7.0)), X, ROWS),
    "index_put, sums": (lambda x, i: x.index_put((i % 2,), x[i], accumulate=True), X, ROWS),
    "x[i // -3]": (lambda x, i: x[i // -3], X, ROWS),
    "x[trunc(i.sum() / -4)]": (lambda x, i: x[torch.div(i.sum(0, keepdim=True), -4, rounding_mode="trunc")], X, ROWS),
    "x[:, i] = y": (set_columns, X, ROWS),
    "x[i, :, j]": (lambda x, i: x[i, :, i % 2], CUBE, ROWS),
    "x[:, i, j]": (lambda x, i: x[None][:, i - 5, i % 2], CUBE, ROWS),
    "index_put, tuples": (lambda x, i: x.index_put((i, i % 2), torch.tensor([7.0, 8])), CUBE, ROWS),
}
GROUPS = [[name for name in FUNCTIONS if FUNCTIONS[name][1] is x and FUNCTIONS[name][2] is i] for x, i in INPUTS]


@pytest.mark.parametrize(("target", "is_open"), [("stock", False), ("extension", True)])
@pytest.mark.parametrize("names", GROUPS)
def test_in_bounds(names, target, is_open):
    """One program computes what many functions make of the same tensors."""
    tensors = FUNCTIONS[names[0]][1:]
    exported = program(lambda x, i: tuple(FUNCTIONS[name][0](x, i) for name in names), *tensors, is_open=is_open)
    found = execute(converted(exported, target=target), *tensors)
    for name, ours, theirs in zip(names, found, exported.module()(*tensors), strict=True):
        np.testing.assert_array_equal(ours, theirs.numpy(), err_msg=name)
        assert ours.dtype == theirs.numpy().dtype


OF_SCALARS = {
    "gather": lambda x, i: x.gather(0, i[0]),
    "gather by a vector": lambda x, i: x.gather(0, i),
    "gather of a vector": lambda x, i: x.reshape(1).gather(0, i[0]),
    "index_select": lambda x, i: x.index_select(0, i),
    "scatter": lambda x, i: x.scatter(0, i[0], torch.tensor(2.0)),
    "scatter, value": lambda x, i: x.scatter(-1, i, 2.5, reduce="add"),
    "scatter_add": lambda x, i: x.scatter_add(0, i[0], torch.tensor(2.0)),
    "scatter_reduce": lambda x, i: x.scatter_reduce(0, i[0], torch.tensor(2.0), "amax"),
    "index_add": lambda x, i: x.index_add(0, i, torch.tensor(2.0)),
    "index_copy": lambda x, i: x.index_copy(0, i, torch.tensor([2.0])),
    "index_fill": lambda x, i: x.index_fill(0, i, 9.0),
}


@pytest.mark.parametrize("target", ["stock", "extension"])
def test_0_d_tensors(target):
    tensors = torch.tensor(3.0), torch.tensor([0])
    exported = program(lambda x, i: tuple(function(x, i) for function in OF_SCALARS.values()), *tensors)
    found = execute(converted(exported, target=target), *tensors)
    for name, ours, theirs in zip(OF_SCALARS, found, exported.module()(*tensors), strict=True):
        assert ours.shape == tuple(theirs.shape), name
        np.testing.assert_array_equal(ours, theirs.numpy(), err_msg=name)


PUT_AT_MASK = {
    "rows, number": lambda x, mask: x.index_put((mask,), x[0, 1]),
    "rows, row": lambda x, mask: x.index_put((mask,), x[1]),
    "rows, one row": lambda x, mask: x.index_put((mask,), x[1:2]),
    "rows, sums": lambda x, mask: x.index_put((mask,), x[1], accumulate=True),
    "columns": lambda x, mask: put_columns(x, mask[:4], x[:1, :1]),
    "elements, number": lambda x, mask: x.index_put((mask[:, None] & (x > 2),), x[0, 1]),
}


def put_columns(x, mask, values):
    y = x.clone()
    y[:, mask] = values
    return y


@pytest.mark.parametrize("target", ["stock", "extension"])
@pytest.mark.parametrize("mask", [[True, False, True, False, True], [False] * 5, [True] * 5], ids=["some", "none", "all"])
def test_values_put_at_a_mask(mask, target):
    mask = torch.tensor(mask)
    exported = program(
        lambda x, i: tuple(function(x, i) for function in PUT_AT_MASK.values()), X, torch.tensor([True, False] * 2 + [True])
    )
    found = execute(converted(exported, target=target), X, mask)
    for name, ours, function in zip(PUT_AT_MASK, found, PUT_AT_MASK.values(), strict=True):
        np.testing.assert_array_equal(ours, function(X, mask).numpy(), err_msg=name)


def test_a_value_for_each_place_of_a_mask():
    mask = torch.tensor([True, False, True, False, True])
    exported = program(lambda x, i: x.index_put((i,), x[:3] + 1), X, mask)
    (found,) = execute(converted(exported), X, mask)
    np.testing.assert_array_equal(found, X.index_put((mask,), X[:3] + 1).numpy())


@pytest.mark.parametrize("number", [0.0, 2.0])
def test_places_of_a_0_d_tensor_have_no_coordinates(number):
    tensors = torch.tensor(number), torch.tensor([0])
    exported = program(lambda x, i: x.nonzero(), torch.tensor(1.0), tensors[1])
    (found,) = execute(converted(exported), *tensors)
    assert found.shape == tuple(tensors[0].nonzero().shape)


OF_TYPES = {
    "index_fill": lambda x, i: x.index_fill(1, i, 1),
    "index_fill from the end": lambda x, i: x.index_fill(0, i - 2, 1),
    "index_add": lambda x, i: x.index_add(0, i, x[:2], alpha=1),
    "index_add, nothing": lambda x, i: x.index_add(0, i, x[:2], alpha=0),
}


@pytest.mark.parametrize("target", ["stock", "extension"])
@pytest.mark.parametrize("element_type", ["float16", "int32", "uint8", "bool"])
def test_types(element_type, target):
    tensors = torch.tensor([[0, 1, 2], [1, 0, 0], [2, 0, 1]]).to(getattr(torch, element_type)), torch.tensor([0, 1])
    exported = program(lambda x, i: tuple(function(x, i) for function in OF_TYPES.values()), *tensors)
    found = execute(converted(exported, target=target), *tensors)
    for name, ours, theirs in zip(OF_TYPES, found, exported.module()(*tensors), strict=True):
        np.testing.assert_array_equal(ours, theirs.numpy(), err_msg=name, strict=True)


@pytest.mark.parametrize("sizes", [(0,), (2, 0)], ids=str)
def test_indices_of_bytes_and_without_elements(sizes):
    tensors = torch.arange(5.0), torch.ones(sizes, dtype=torch.uint8)
    exported = program(lambda x, i: torch.gather(x, 0, i), *tensors)
    (found,) = execute(converted(exported), *tensors)
    assert found.shape == sizes
    np.testing.assert_array_equal(found, exported.module()(*tensors).numpy())


OF_NOTHING = (
    lambda x, i: torch.take(x, i),
    lambda x, i: torch.index_select(x, 1, i),
    lambda x, i: x[:, i],
    lambda x, i: torch.gather(x, 1, i.reshape(1, -1)),
    lambda x, i: functional.embedding(i[:, None], x),
)


@pytest.mark.parametrize("target", ["stock", "extension"])
@pytest.mark.parametrize(("shape", "count"), [((2, 3), 0), ((2, 0), 0), ((0, 3), 0), ((0, 3), 2)], ids=str)
def test_gathers_of_nothing(shape, count, target):
    """OpenVINO's compiler dies of a Gather whose data or indices have no elements."""
    x, i = torch.zeros(shape), torch.zeros(count, dtype=torch.int64)
    for function in OF_NOTHING:
        try:
            expected = function(x, i)
        except (IndexError, RuntimeError):  # it reads elements, and there are none
            continue
        (found,) = execute(converted(program(function, x, i), target=target), x, i)
        assert found.shape == expected.shape


@pytest.mark.parametrize("target", ["stock", "extension"])
@pytest.mark.parametrize(("reduction", "is_lost"), [("amax", True), ("amin", True), ("sum", False)])
def test_nan_that_loses_max_and_min_is_told(reduction, is_lost, target):
    function = FUNCTIONS["scatter_add"][0] if reduction == "sum" else lambda x, i: x.scatter_reduce(1, i, x, reduction)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        convert_model(program(function, X, ELEMENTS), target=target)
    assert any("NaN among the updates" in str(each.message) for each in warned) == is_lost


def bag(x, i):
    return functional.embedding_bag(i[None], x, mode="sum", padding_idx=2)


def mean(x, i):
    return x.long().scatter_reduce(0, i[:, None], -3 - x[:3, :1].long(), "mean")


@pytest.mark.parametrize("target", ["stock", "extension"])
@pytest.mark.parametrize(
    ("function", "is_named"),
    [
        (bag, "rows of padding_idx are added, which PyTorch leaves out: node aten._embedding_bag"),
        (mean, "a mean of integers is rounded towards 0, which PyTorch rounds down: node aten.scatter_reduce"),
    ],
)
def test_what_the_front_end_computes_otherwise_is_told(function, is_named, target):
    exported = program(function, X, ROWS)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        model = convert_model(exported, target=target)
    (found,) = execute(model, X, ROWS)
    assert not np.array_equal(found, function(X, ROWS).numpy())  # or the warning has no reason left
    assert any(is_named in str(each.message) for each in warned)


def test_every_function_is_in_a_group():
    assert sorted(name for names in GROUPS for name in names) == sorted(FUNCTIONS)


REFUSED = {
    "gather": (torch.tensor([[0, 1], [2, 4], [1, 1]]), torch.tensor([[0, 1], [2, -1], [1, 1]])),
    "embedding": (torch.tensor([0, 5, 4]), torch.tensor([0, -1, 4])),
    "x[i, i]": (torch.tensor([0, 8, 1]), torch.tensor([0, -1, 1])),
    "scatter_add": (torch.tensor([[0, 1], [2, 4], [1, 1]]), torch.tensor([[0, 1], [2, -1], [1, 1]])),
    "index_put": (torch.tensor([0, 10, 4]), torch.tensor([0, -1, 4])),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_pytorch_refuses_raises_with_the_extension_and_is_told_for_stock(name):
    function, *tensors = FUNCTIONS[name]
    exported = program(function, *tensors)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        stock = convert_model(exported)
    told = " ".join(str(each.message) for each in warned)
    model = converted(exported, target="extension")
    for indices, words in zip(REFUSED[name], ("an index out of bounds", "an index below 0"), strict=True):
        with pytest.raises((IndexError, RuntimeError)):
            exported.module()(tensors[0], indices)
        with pytest.raises(OutOfBoundsError):
            execute(model, tensors[0], indices)
        if words not in told and "an index out of bounds" not in told:
            with pytest.raises(OutOfBoundsError):
                execute(stock, tensors[0], indices)


def test_what_is_proved_needs_no_check():
    exported = program(lambda x, i: torch.gather(x, 1, i % 4), X, ELEMENTS)
    (proof,) = ov_gather.prove(converted(exported, target="extension"))
    assert (proof.layer, proof.type, proof.status) == ("gather", "GatherElements", "proved")


def test_names_types_and_sizes():
    batch = torch.export.Dim("batch", min=3, max=8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = torch.export.export(Module(lambda x, i: x[i]), (X, ROWS), dynamic_shapes=({0: batch}, None))
    model = converted(exported)
    assert [(port.get_any_name(), str(port.get_partial_shape())) for port in (*model.inputs, *model.outputs)] == [
        ("x", "[3..8,4]"),
        ("indices", "[3]"),
        ("index", "[3,4]"),
    ]
    assert model.get_rt_info(["ov_gather", "losses"]).value.startswith(
        "input 'indices': i64 is computed as i32, values beyond wrap around"
    )


def test_strict():
    with pytest.raises(ConversionError, match=r"node aten\.index_select\.default 'index_select'"):
        convert_model(program(*FUNCTIONS["index_select"]), strict=True)


def index_reduce(x, i):
    return x.index_reduce(0, i, x[:3], "mean")


def scatter_reduce(x, i):
    return x.scatter_reduce(0, i[:, None].expand(x[:3].shape), x[:3], "mean")


INSTEAD = {
    "masked_select": (lambda x, i: torch.masked_select(x, x > 3), lambda x, i: x[x > 3], "write x[mask], or name"),
    "index_reduce": (index_reduce, scatter_reduce, "write x.scatter_reduce(dim, the index expanded"),
    "take": (
        lambda x, i: torch.take(x, i.max()),
        lambda x, i: torch.take(x, i.max().reshape(1)).reshape(()),
        "write torch.take(x, index.reshape(1)).reshape(())",
    ),
    "topk": (
        lambda x, i: x.max().topk(1).values.reshape(1),
        lambda x, i: x.max().reshape(1).topk(1).values,
        "Input rank must be greater than 0; write x.reshape(1).topk(k)",
    ),
}


@pytest.mark.parametrize("name", INSTEAD)
def test_a_refusal_names_the_operator_and_what_to_write_instead(name):
    function, instead, words = INSTEAD[name]
    with pytest.raises(ConversionError, match=rf"node aten\.{name}\.default '{name}.*{re.escape(words)}"):
        convert_model(program(function, X, ROWS))
    (found,) = execute(converted(program(instead, X, ROWS)), X, ROWS)
    np.testing.assert_array_equal(found, function(X, ROWS).numpy())


def test_an_operator_that_openvino_does_not_have():
    function = program(lambda x, i: torch.unique(torch.special.bessel_j0(x), return_counts=True), X, ROWS)
    with pytest.raises(ConversionError) as refused:
        convert_model(function)
    assert "no conversion for node aten.special_bessel_j0.default 'special_bessel_j0'" in str(refused.value)
    assert "no conversion for node aten._unique2.default '_unique2'; write it with other operators" in str(refused.value)
    assert "with a ConversionExtension for PyTorch by --extension" in str(refused.value)
    assert "getitem" not in str(refused.value)


@pytest.mark.parametrize("content", [b"", b"PK\x05\x06" + bytes(18), b"no zip file"])
def test_files_that_hold_no_program(tmp_path, content):
    (tmp_path / "m.pt2").write_bytes(content)
    with pytest.raises(ConversionError, match=r"m\.pt2: not an exported program"):
        convert_model(tmp_path / "m.pt2", trust=True)
    with pytest.raises(FileNotFoundError, match=r"nowhere\.pt2: no such file"):
        convert_model(tmp_path / "nowhere.pt2", trust=True)
