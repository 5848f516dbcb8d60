"""A crash of a model is reduced to the operation that is its cause, which a report describes."""

from functools import partial
from multiprocessing import set_forkserver_preload

import numpy as np
import pytest

from helpers.crash_reduction import Part, described, reduced
from helpers.index_sites import tensor
from helpers.known_faults import between_named_layers
from tools.crash_causes import IMPORTED, cause, table

pytestmark = pytest.mark.slow


def whole(report, size):
    """Return a model around a fault with all outputs, and feeds whose open dimensions have this size."""
    make = partial(between_named_layers, report)
    model = make()
    feed = {}
    for node in model.get_parameters():
        sizes = [dim.get_length() if dim.is_static else size for dim in node.get_output_partial_shape(0)]
        feed[tensor(node.output(0))] = np.zeros(sizes, node.get_output_element_type(0).to_dtype())
    return Part(make, tuple(tensor(result.input_value(0)) for result in model.get_results()), (feed,))


def test_a_crash_is_reduced_to_its_cause():
    set_forkserver_preload(IMPORTED)
    part, found = reduced(whole("broadcast_of_no_elements", 2))
    assert (found.phase, found.exit_code) == ("compile", -8)
    what = described(part)
    assert what.names == ("Broadcast",)
    assert what.reports == ("broadcast_of_no_elements",)
    assert not what.has_bad_index


CRASH = {"seed": 7, "stage": "running 3_Gather and 0 more", "ending": "SIGSEGV in infer", "operations": ["TensorIterator"]}


def test_causes_are_counted():
    gather = {**CRASH, "lines": ["TensorIterator()", "    Gather(i32[1])"], "reports": [], "has_bad_index": True}
    assert cause(gather) == ("short_gather_out_of_bounds", "SIGSEGV in infer")
    both = {**CRASH, "lines": [], "reports": ["i64_state", "static_empty_gather"], "has_bad_index": False}
    assert cause(both) == ("static_empty_gather", "SIGSEGV in infer")
    lines = list(table([gather, both, {**gather, "seed": 8}, {"seed": 9}]))
    assert lines[0].startswith("3 of 4 models crash OpenVINO ")
    assert lines[4].endswith("(upstream/short_gather_out_of_bounds.md) | SIGSEGV in infer | 2 | 7 |")
    assert lines[5].endswith("(upstream/static_empty_gather.md) | SIGSEGV in infer | 1 | 7 |")
