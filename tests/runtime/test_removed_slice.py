"""OpenVINO does what OVG706 says, and what OVG706 advises helps."""

import numpy as np
import pytest

from helpers.inside_openvino import compiled, infer
from helpers.paths import SAMPLES
from ov_gather import validate

ov = pytest.importorskip("openvino")

SAMPLE = SAMPLES / "invalid" / "OVG706" / "first_rows.xml"
DATA = np.arange(15, dtype=np.float32).reshape(5, 3)


@pytest.mark.parametrize(("start", "rules", "row"), [(0, ["OVG706"], 4), (1, [], 3), (-(2**31) + 1, [], 3)])
def test_a_slice_from_the_start_is_removed(tmp_path, start, rules, row):
    xml = SAMPLE.read_text().replace(
        'offset="0"', 'offset="24"', 1
    )  # the start gets a constant of its own, apart from the axis
    binary = SAMPLE.with_suffix(".bin").read_bytes() + np.int64(start).tobytes()
    path = tmp_path / "model.xml"
    path.write_text(xml)
    path.with_suffix(".bin").write_bytes(binary)

    assert [finding.rule for finding in validate(path)] == rules
    output = infer(compiled(ov.Core(), ov.Core().read_model(xml.encode(), binary)), DATA, np.full((2, 3), -1))
    np.testing.assert_array_equal(output, [DATA[row]] * 2)
