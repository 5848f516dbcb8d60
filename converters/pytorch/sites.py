"""Index operators of PyTorch, marked in an exported program so that our own code translates them.

OpenVINO's PyTorch front end lets coordinates of `x[i, j]` run into the next row and those of `index_put` wrap around, and
rejects other operators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

OPERATOR = "ov_gather.indexed"
"""The operator name by which the front end knows all marked nodes."""


@dataclass(frozen=True, slots=True)
class IndexUse:
    """A use of indices by an operator of PyTorch.

    Attributes:
        name: name of the node in the exported program.
        operator: e.g. "aten.gather.default".
        kind: key of the translation.
        dims: dimensions of data that the indices address.
        refuses_negative: whether a negative index is an error.
        smaller: dimensions in which data, or updates, may be larger than the indices.
        has_scalars, gives_scalar: whether a tensor is 0-d, which stands for a vector of one element; whether the result is.
        options: further parameters of the translation.
    """

    name: str
    operator: str
    kind: str
    dims: tuple[int, ...]
    refuses_negative: bool = True
    smaller: tuple[int, ...] = ()
    has_scalars: bool = False
    gives_scalar: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"node {self.operator} '{self.name}'"


class _Indexed:
    """The callable that replaces operators of PyTorch in the program. It is translated, and never called."""

    __name__ = "indexed"
    __module__ = "ov_gather"

    def __str__(self) -> str:
        return OPERATOR

    def __call__(self, *_: Any) -> Any:
        raise NotImplementedError(f"{OPERATOR} is only translated")


_INDEXED = _Indexed()
_Tensors = Sequence["torch.fx.Node"]
_Arguments = Mapping[str, Any]
_Reader = Callable[[Any, _Arguments], "tuple[_Tensors, IndexUse] | None"]


def mark(module: torch.fx.GraphModule) -> list[IndexUse]:
    """Replace index operators by ours, with the tensors and the position of the Site in the returned list as arguments."""
    sites: list[IndexUse] = []
    for node in list(module.graph.nodes):
        read = _READERS.get(str(node.target)) if node.op == "call_function" else None
        found = read and read(node, _arguments(node))
        if not found:
            continue
        tensors, site = found
        with module.graph.inserting_before(node):
            ours = module.graph.create_node("call_function", _INDEXED, (*tensors, len(sites)), name=f"{node.name}_indexed")
        ours.meta = dict(node.meta)
        node.replace_all_uses_with(ours)
        module.graph.erase_node(node)
        sites.append(site)
    return sites


def padded_bags(module: torch.fx.GraphModule) -> Iterator[str]:
    """Yield the embedding bags with a padding_idx, which OpenVINO's front end ignores."""
    for node in module.graph.nodes:
        if str(node.target).startswith("aten._embedding_bag") and _arguments(node)["padding_idx"] >= 0:
            yield f"node {node.target} '{node.name}'"


def _use(node: torch.fx.Node, kind: str, dims: tuple[int, ...], **more: Any) -> IndexUse:
    return IndexUse(node.name, str(node.target), kind, dims, **more)


def _arguments(node: torch.fx.Node) -> dict[str, Any]:
    """Return the arguments of a node by parameter name, including defaults."""
    declared = node.target._schema.arguments
    names = [argument.name for argument in declared]
    defaults = {argument.name: argument.default_value for argument in declared if argument.has_default_value()}
    return {**defaults, **dict(zip(names, node.args, strict=False)), **node.kwargs}


def _shape(node: Any) -> list[str] | None:
    """Return the sizes of a tensor as texts, so that dynamic ones compare equal; None if unknown."""
    value = node.meta.get("val") if hasattr(node, "meta") else None
    return None if value is None or not hasattr(value, "shape") else [str(size) for size in value.shape]


def _smaller(tensor: Any, indices: Any, but: Sequence[int] = ()) -> tuple[int, ...]:
    one, other = _vector(_shape(tensor)), _vector(_shape(indices))
    assert other is not None  # readers reject indices of unknown shape
    return tuple(dim for dim in range(len(other)) if dim not in but and (one is None or one[dim] != other[dim]))


def _vector(shape: list[str] | None) -> list[str] | None:
    """Return a shape, with one dimension for a 0-d tensor."""
    return ["1"] if shape == [] else shape


def _scalars(result: Any, *tensors: Any) -> dict[str, bool]:
    """Return which tensors are 0-d; the result has the shape of the first one."""
    return {"has_scalars": any(_shape(one) == [] for one in (result, *tensors)), "gives_scalar": _shape(result) == []}


def _along(kind: str) -> _Reader:
    """Return a reader of operators that index elements along one dimension."""

    def read(node: torch.fx.Node, given: _Arguments) -> tuple[_Tensors, IndexUse] | None:
        data, index = given["self"], given["index"]
        shape = _vector(_shape(index))
        if shape is None:
            return None
        if "0" in shape:  # the rank of indices without elements is free
            return (data, index), _use(node, "none" if kind == "gather" else "unchanged", (0,))
        dim = given["dim"] % len(shape)
        if kind == "gather":
            scalars = _scalars(index, data)
            return (data, index), _use(node, kind, (dim,), smaller=_smaller(data, index, (dim,)), **scalars)
        reduction = _REDUCTIONS[given.get("reduce", "sum" if "scatter_add" in str(node.target) else None)]
        options = {"reduction": reduction, "use_init_val": given.get("include_self", True)}
        source = given.get("src")
        if source is None:
            scalars = _scalars(data, index)
            return (data, index), _use(node, kind, (dim,), options={**options, "value": given["value"]}, **scalars)
        scalars, smaller = _scalars(data, index, source), _smaller(source, index)
        return (data, index, source), _use(node, kind, (dim,), smaller=smaller, options=options, **scalars)

    return read


_REDUCTIONS = {
    None: "none",
    "add": "sum",
    "sum": "sum",
    "multiply": "prod",
    "prod": "prod",
    "mean": "mean",
    "amax": "max",
    "amin": "min",
}


def _slices(kind: str) -> _Reader:
    """Return a reader of operators that read or write whole slices along one dimension."""

    def read(node: torch.fx.Node, given: _Arguments) -> tuple[_Tensors, IndexUse] | None:
        data, index = given["self"], given["index"]
        shape = _vector(_shape(data))
        if shape is None or _shape(index) is None:
            return None
        dim = given["dim"] % len(shape)
        tensors = [data, index, *([given["source"]] if "source" in given else [])]
        options = {"alpha": given.get("alpha", 1), "rank": len(shape)}
        return tensors, _use(node, kind, (dim,), options=options, **_scalars(data, *tensors[1:]))

    return read


def _fill(node: torch.fx.Node, given: _Arguments) -> tuple[_Tensors, IndexUse] | None:
    """Read index_fill. OpenVINO's front end fills with a value of the wrong type, and takes no 0-d tensor."""
    data, index, value = given["self"], given["index"], given["value"]
    shape = _vector(_shape(data))
    if shape is None or _shape(index) is None or not isinstance(value, int | float):
        return None
    options = {"value": value, "rank": len(shape)}
    dims = (given["dim"] % len(shape),)
    return (data, index), _use(node, "fill_slices", dims, refuses_negative=False, options=options, **_scalars(data, index))


def _nonzero(node: torch.fx.Node, given: _Arguments) -> tuple[_Tensors, IndexUse] | None:
    """Read nonzero of a 0-d tensor, whose places have no coordinates. OpenVINO's front end gives them one."""
    return ((given["self"],), _use(node, "places", ())) if _shape(given["self"]) == [] else None


def _embedding(node: torch.fx.Node, given: _Arguments) -> tuple[_Tensors, IndexUse]:
    return (given["weight"], given["indices"]), _use(node, "take", (0,))


def _coordinates(kind: str) -> _Reader:
    """Return a reader of x[i, j], or of its assignment. A mask is a list of coordinates if it is assigned to alone."""

    def read(node: torch.fx.Node, given: _Arguments) -> tuple[_Tensors, IndexUse] | None:
        data, indices = given["self"], given["indices"]
        shape = _shape(data)
        used = [(dim, index) for dim, index in enumerate(indices) if index is not None]
        if shape is None or not used or any(_shape(index) is None for _, index in used):
            return None
        dims, tensors = tuple(dim for dim, _ in used), [index for _, index in used]
        options = {"rank": len(shape), "accumulate": given.get("accumulate", False)}
        options["index_rank"] = max(len(_shape(index) or ()) for index in tensors)
        if any(_is_mask(index) for index in tensors):
            if kind == "pick" or len(tensors) > 1 or not options["index_rank"]:
                return None  # the front end converts it, or refuses it
            dims, options["index_rank"] = tuple(range(dims[0], dims[0] + options["index_rank"])), 1
            return (data, *tensors, given["values"]), _use(node, "put_masked", dims, refuses_negative=False, options=options)
        options["alike"] = len({str(_shape(index)) for index in tensors}) == 1
        if kind == "pick":
            name = "pick" if len(dims) > 1 else "take"
            return (data, *tensors), _use(node, name, dims, refuses_negative=False, options=options)
        return (data, *tensors, given["values"]), _use(node, kind, dims, refuses_negative=False, options=options)

    return read


def _is_mask(index: torch.fx.Node) -> bool:
    return str(index.meta["val"].dtype) in ("torch.bool", "torch.uint8")


_READERS: Mapping[str, _Reader] = {
    "aten.gather.default": _along("gather"),
    "aten.scatter.src": _along("scatter"),
    "aten.scatter.value": _along("scatter"),
    "aten.scatter.reduce": _along("scatter"),
    "aten.scatter.value_reduce": _along("scatter"),
    "aten.scatter_add.default": _along("scatter"),
    "aten.scatter_reduce.two": _along("scatter"),
    "aten.index_select.default": _slices("take"),
    "aten.index_add.default": _slices("add_slices"),
    "aten.index_copy.default": _slices("copy_slices"),
    "aten.index_fill.int_Scalar": _fill,
    "aten.embedding.default": _embedding,
    "aten.index.Tensor": _coordinates("pick"),
    "aten.index_put.default": _coordinates("put"),
    "aten.nonzero.default": _nonzero,
}
"""Reader of each operator. Nodes for which it returns None are left to the front end."""
