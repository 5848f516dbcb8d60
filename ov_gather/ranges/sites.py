"""Sites: gathers, scatters and others that read at an index, and the checks that their indices are in bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ov_gather.graph.protocol import Key, Node
from ov_gather.ops import OPERATIONS, indexing, known_types
from ov_gather.ops.index_table import OPENVINO_INDICES, OUR_INDICES, IndexRow, openvino_rows
from ov_gather.ops.spec import CUSTOM_OPSET, AttributeSize, AxisSize, CoordinateSizes, Operation
from ov_gather.ranges.algebra.intervals import Algebra, Interval
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.values import Value
from ov_gather.ranges.rules.openvino import counts_from_end, has_scattered_lanes


@dataclass(frozen=True, slots=True)
class Site:
    """One gather or scatter, or one input of another operation that holds indices.

    Attributes:
        name: the name of the operation, prefixed by those of the operations whose bodies contain it.
        type: the type of the operation, e.g. "Gather".
        line: the line in the document; 0 if unknown.
        data, indices: the operands.
        axis: the axis that indices address: a number, or the tensor that holds it; None for coordinate tuples.
        batch_dims: leading dimensions of data that coordinate tuples skip.
        counts_from_end: True if negative indices count from the end of the axis.
        output: the output of the operation, on which other sites may depend.
        may_broadcast: True if data may have other sizes off the axis than indices, as in operations of this package.
        port: the position of indices among the inputs.
        size: the size that indices address, if it is no dimension of data.
        data_port: the position of data among the inputs.
        spare: the number of values in bounds beyond the axis: 1 for lengths.
        outside: the effect in OpenVINO of an index out of bounds, for operations of the index table; "" if it raises.
        unknown: why nothing can be proved or checked; "" if it can.
        lenient: why an index out of bounds may be right, so that none is refused; "" if it is not.
        within: for a site in a body, an output of the outermost operation that contains it.
    """

    name: str
    type: str
    line: int
    data: Key
    indices: Key
    axis: int | Key | None
    batch_dims: int = 0
    counts_from_end: bool = True
    within: Key | None = None
    output: Key | None = None
    may_broadcast: bool = False
    port: int = 1
    size: int | None = None
    data_port: int = 0
    spare: int = 0
    outside: str = ""
    unknown: str = ""
    lenient: str = ""

    @property
    def wanted(self) -> list[Key]:
        """The tensors of the top-level graph whose elements the site depends on."""
        return self._elements if self.within is None else [self.within]

    @property
    def operands(self) -> list[Key]:
        """The tensors of the graph of the site that decide whether indices are in bounds."""
        return [*self._elements, self.data]

    @property
    def can_be_checked(self) -> bool:
        """Return True if an index out of bounds is always wrong, and what is in bounds is known."""
        return not self.unknown and not self.lenient

    @property
    def _elements(self) -> list[Key]:
        return [self.indices] if self.axis is None or isinstance(self.axis, int) else [self.indices, self.axis]

    @property
    def has_coordinates(self) -> bool:
        """Return True if indices are coordinate tuples, along the last dimension of indices."""
        return self.axis is None


def indexed_types() -> list[str]:
    """Return the types of OpenVINO's operations, and of users', that may read or write at an index."""
    return [*known_types(), *OPENVINO_INDICES, *OUR_INDICES]


def site_by_row(operation: Node, row: IndexRow) -> Site | None:
    """Return the site of an input by its row in the index table; None if an input or attribute is missing."""
    given = [operation.inputs[port] if port < len(operation.inputs) else None for port in (row.data, row.port)]
    data, indices = given
    if data is None or indices is None or not operation.outputs:
        return None
    try:
        axis, size = (operation.integer(given) if isinstance(given, str) else given for given in (row.axis, row.size))
    except ValueError:
        return None
    return Site(
        operation.full_name,
        operation.type,
        operation.line,
        data,
        indices,
        axis,
        counts_from_end=row.counts_from_end,
        within=operation.within,
        output=operation.outputs[0],
        port=row.port,
        size=size,
        data_port=row.data,
        spare=row.spare,
        outside=row.outside,
        unknown=row.unknown,
        lenient=row.lenient if not row.if_given or row.if_given in operation.attributes else "",
    )


def sites_of(operation: Node) -> list[Site | None]:
    """Return the sites of a node that reads or writes at an index; None instead of one if inputs or attributes are missing."""
    if indexing(operation.type, operation.opset) is not None:
        return [_site_of_rule(operation)]
    return [site_by_row(operation, row) for row in openvino_rows(operation.type, operation.opset)]


def _site_of_rule(operation: Node) -> Site | None:
    """Return the site of a gather, a scatter or an operation of users.

    None if inputs or attributes are missing, or if the sizes of its index rule are a function.
    """
    inputs = operation.inputs
    if not operation.outputs:
        return None
    spec = indexing(operation.type, operation.opset)
    if spec is None or spec.index_rule is None:
        return None
    rule, axis, batch_dims, size = spec.index_rule, None, 0, None
    if rule.port >= len(inputs) or None in (indices := inputs[rule.port], inputs[0]):
        return None
    try:
        if isinstance(rule.sizes, AxisSize):
            axis = _axis(operation, spec, rule.sizes, inputs)
            if axis is None:
                return None
        elif isinstance(rule.sizes, CoordinateSizes):
            batch_dims = operation.integer(rule.sizes.batch_dims)
        elif isinstance(rule.sizes, AttributeSize):
            axis, size = 0, operation.integer(rule.sizes.attribute)
        else:
            return None
    except ValueError:
        return None
    is_of_family = spec in OPERATIONS
    counts = counts_from_end(operation) if is_of_family else bool(rule.lowest_specified(1) < 0)
    data_port = 0 if isinstance(rule.sizes, AttributeSize) else rule.sizes.data
    data = inputs[data_port]
    if data is None or indices is None:
        return None
    may_broadcast = operation.opset == CUSTOM_OPSET or not is_of_family
    return Site(
        operation.full_name,
        operation.type,
        operation.line,
        data,
        indices,
        axis,
        batch_dims,
        counts,
        operation.within,
        operation.outputs[0],
        may_broadcast,
        rule.port,
        size,
        data_port,
    )


def _axis(operation: Node, spec: Operation, along: AxisSize, inputs: Sequence[Key | None]) -> int | Key | None:
    """Return an axis: its number, or the tensor that holds it; None if nothing feeds that."""
    if isinstance(along.axis, int):
        return along.axis
    for attribute in spec.attributes:
        if attribute.name == along.axis:
            axis = operation.integer(along.axis, attribute.default or 0)
            return axis - 1 if axis < 0 and has_scattered_lanes(operation) else axis
    return next(iter(inputs[spec.port_of(along.axis) :]), None)


@dataclass(frozen=True, slots=True)
class BoundsCheck:
    """A bounds check: the obligation that an index interval lies within an axis.

    Attributes:
        axis: the axis of data.
        is_attained: True if the least and the greatest number of the interval occur, as for constant indices.
    """

    axis: int
    size: Polynomial
    indices: Interval
    counts_from_end: bool
    is_attained: bool = False

    @property
    def lowest(self) -> Polynomial:
        """The least valid index."""
        return -self.size if self.counts_from_end else Polynomial(())

    def holds(self, algebra: Algebra) -> bool:
        """Return True if every index is in bounds."""
        return algebra.is_at_least(self.indices, self.lowest) and algebra.is_at_most(self.indices, self.size - 1)

    @property
    def greatest(self) -> Interval:
        """Bounds of the greatest index that occurs."""
        return Interval(self.indices.high, self.indices.high) if self.is_attained else self.indices

    @property
    def least(self) -> Interval:
        """Bounds of the least index that occurs."""
        return Interval(self.indices.low, self.indices.low) if self.is_attained else self.indices

    def is_below(self, algebra: Algebra) -> bool:
        """Return True if an index is before the start of the axis for all sizes."""
        return algebra.is_at_most(self.least, self.lowest - 1)

    def fails(self, algebra: Algebra) -> bool:
        """Return True if an index is out of bounds for all sizes, unless there are no indices."""
        is_above = algebra.is_at_least(self.greatest, self.size)
        return is_above or self.is_below(algebra) or self.size.value == 0


@dataclass(frozen=True, slots=True)
class Obstacle:
    """The reason that a site has no bounds checks: too little is known of a tensor."""

    key: Key
    reason: str


def demands(site: Site, value: Callable[[Key], Value]) -> list[BoundsCheck] | Obstacle:
    """Return the bounds checks of a site; `value` returns the abstract value of a tensor."""
    if site.unknown:
        return Obstacle(site.indices, site.unknown)
    data, indices = value(site.data), value(site.indices)
    if site.size is not None:
        return [BoundsCheck(0, Polynomial.constant(site.size), indices.elements, site.counts_from_end)]
    if data.shape is None:
        return Obstacle(site.data, "its rank is open")
    if site.has_coordinates:
        return _of_coordinates(site, data, indices)
    axis = site.axis if isinstance(site.axis, int) else None
    if axis is None:
        exact = value(site.axis).elements.exactly
        axis = None if exact is None else exact.value
    if axis is None or not -len(data.shape) <= axis < len(data.shape):
        return Obstacle(site.axis if not isinstance(site.axis, int) else site.data, "the axis is not known")
    axis %= len(data.shape)
    return [BoundsCheck(axis, data.shape[axis] + site.spare, indices.elements, site.counts_from_end)]


def _of_coordinates(site: Site, data: Value, indices: Value) -> list[BoundsCheck] | Obstacle:
    assert data.shape is not None
    if not indices.shape:
        return Obstacle(site.indices, "its rank is open")
    length = indices.shape[-1].value
    if length is None:
        return Obstacle(site.indices, "its last dimension is open")
    dims = data.shape[site.batch_dims :]
    if length > len(dims):
        return Obstacle(site.indices, f"its tuples have {length} coordinates, and data has {len(dims)} dimensions for them")
    intervals = indices.along(len(indices.shape) - 1) or (indices.elements,) * length
    pairs = zip(intervals, dims, strict=False)
    return [BoundsCheck(site.batch_dims + i, dim, interval, True) for i, (interval, dim) in enumerate(pairs)]
