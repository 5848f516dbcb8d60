"""GatherElements-6: the shape rule, the axis, the index rule, the versions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ov_gather.ir.element_types import F16, I32
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops.gather_elements import GATHER_ELEMENTS_6
from ov_gather.ops.spec import DimensionError, RankError


def infer(data, indices, axis):
    shapes = (PartialShape.parse(data), PartialShape.parse(indices))
    return str(GATHER_ELEMENTS_6.infer_shapes(shapes, {"axis": axis})[0])


@pytest.mark.parametrize(
    ("data", "indices", "axis", "error", "text"),
    [
        ("3,7", "3", 0, RankError, "rank 2, indices .3. has rank 1"),
        ("", "", 0, RankError, "data is a scalar"),
        ("...", "", 0, RankError, "indices is a scalar"),
        ("3,7", "2,7", 1, DimensionError, "dimension 0 is 3 in data .3,7. and 2 in indices"),
        ("1..3,7", "4..9,7", 1, DimensionError, "dimension 0 is 1..3"),
    ],
)
def test_shapes_that_do_not_fit(data, indices, axis, error, text):
    with pytest.raises(error, match=text):
        infer(data, indices, axis)


def test_output_type_is_that_of_data():
    assert GATHER_ELEMENTS_6.infer_types((F16, I32)) == (F16,)


@given(st.integers(1, 5), st.data())
def test_chosen_sizes_fit(rank, data):
    dims = st.sampled_from(["?", "1..4", "2..", "3"])
    shapes = [PartialShape.parse(",".join(data.draw(dims) for _ in range(rank))) for _ in range(2)]
    axis = {"axis": data.draw(st.integers(-rank, rank - 1))}
    try:
        (output,) = GATHER_ELEMENTS_6.infer_shapes(shapes, axis)
    except DimensionError:
        return
    sizes = GATHER_ELEMENTS_6.choose_sizes(shapes, axis, 6)
    assert all(chosen in shape for chosen, shape in zip(sizes, shapes, strict=True))
    (static,) = GATHER_ELEMENTS_6.infer_shapes([PartialShape.of(chosen) for chosen in sizes], axis)
    assert static.is_static
    assert static.sizes in output


def test_axis_range():
    (axis,) = GATHER_ELEMENTS_6.attributes
    unknown, rank_3 = PartialShape(None), PartialShape.of([2, 3, 4])
    assert axis.valid_range((rank_3, unknown)) == (-3, 2)
    assert axis.valid_range((unknown, rank_3)) == (-3, 2)
    assert axis.valid_range((unknown, unknown)) is None


@pytest.mark.parametrize("text", ["1.7", "1x", "", " 1", "+1", "0x1", "1,1", "--1", "१", "1" * 40])
def test_malformed_axis(text):
    with pytest.raises(ValueError, match="not an integer"):
        GATHER_ELEMENTS_6.read_attributes({"axis": text}, (PartialShape(None), PartialShape(None)))
