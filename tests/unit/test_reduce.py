"""How a failed case is made smaller."""

from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import pytest

from helpers.paths import VALID
from ov_gather import read_ir
from ov_gather.crosscheck import reduce
from ov_gather.crosscheck.cases.designed import Case, as_cases
from ov_gather.crosscheck.reduce import ATTEMPTS, Reducer, new_folder
from ov_gather.crosscheck.results import CaseResult, Comparison, Status
from ov_gather.ops.isolation import isolate
from ov_gather.ops.layer_view import family_layers


def view_of(name):
    return next(family_layers(isolate(next(family_layers(read_ir(VALID / f"{name}.xml"))))))


def test_sizes_are_cut_to_halves_and_then_values_are_plain():
    data, indices, axis = np.arange(20.0).reshape(4, 5) + 1, np.array([[1, 2, 3, 4, 5]] * 2), np.array(1)
    found = list(reduce._smaller(view_of("gather_8"), [data, indices, axis]))
    expected = [
        [data[:, :2], indices[:, :2], axis],
        [data[:, 2:], indices[:, 2:], axis],
        [data[:2], indices, axis],
        [data[2:], indices, axis],
        [data, indices[:1], axis],
        [data, indices[1:], axis],
        [data * 0, indices, axis],
        [data, indices * 0, axis],
    ]
    assert len(found) == len(expected)
    for ours, right in zip(found, expected, strict=True):
        for one, other in zip(ours, right, strict=True):
            np.testing.assert_array_equal(one, other)


def test_what_cannot_be_smaller():
    """One element has no half, zeros are plain, and so are strings."""
    axis = np.array([7, 8])  # never cut
    assert list(reduce._smaller(view_of("gather_8"), [np.zeros((1, 1)), np.array([0]), axis])) == []
    assert list(reduce._smaller(view_of("gather_8"), [np.array(["a"], object), np.array(0), axis])) == []


class Shown:
    """A failure that any case shows that `holds`."""

    def __init__(self, holds):
        self.view, self.asked, self._holds = view_of("gather_8"), 0, holds

    def is_shown_by(self, arrays):
        self.asked += 1
        return self._holds(arrays)


def test_the_smallest_case_that_shows_the_failure():
    failure = Shown(lambda arrays: 13.0 in arrays[0] and 3 in arrays[1])
    data, indices, axis = reduce._shrunk(failure, [np.arange(64.0), np.arange(12), np.array(0)])
    assert (data.tolist(), indices.tolist(), axis.tolist()) == ([13.0], [3], 0)


@pytest.mark.parametrize(("holds", "asked"), [(lambda arrays: False, 4), (lambda arrays: True, ATTEMPTS)])
def test_attempts_end(holds, asked):
    failure = Shown(holds)
    sizes = (2,) if asked == 4 else (2**20, 3**5, 5**7, 7)
    arrays = [np.broadcast_to(np.float32(1), sizes), np.array(0 if asked > 4 else 1), np.array(0)]
    reduce._shrunk(failure, arrays)
    assert failure.asked <= asked
    assert failure.asked == asked or holds(arrays)


@pytest.mark.parametrize("hangs", [True, False])
def test_what_hangs_is_not_tried_smaller(monkeypatch, tmp_path, hangs):
    """A smaller case may hang for as long; the words of a failure say nothing of that."""
    tried = []
    monkeypatch.setattr(reduce, "borrowed", lambda names, device: nullcontext(names))
    monkeypatch.setattr(reduce, "_shrunk", lambda failure, arrays: tried.append(failure) or arrays)
    monkeypatch.setattr(reduce, "_passes", lambda *_: False)
    failed = Comparison("openvino", Status.FAILED, "hangs: so OpenVINO calls it", hangs=hangs)
    inputs = (np.arange(20.0, dtype=np.float32).reshape(4, 5), np.array([1], np.int32))
    result = CaseResult("random", (), 0, (failed,))
    assert not Reducer(tmp_path)(view_of("gather_8"), Case("random", inputs, 0), result, None).passes_again
    assert bool(tried) != hangs


def test_folders_have_names_of_their_own(tmp_path):
    folders = [new_folder(tmp_path / "below" / "failed", "take-above, 2 threads-openvino") for _ in range(3)]
    assert all(folder.is_dir() for folder in folders)
    first = folders[0].name
    assert first == "take-above-2-threads-openvino"
    assert [folder.name for folder in folders] == [first, f"{first}-1", f"{first}-2"]
    long = new_folder(tmp_path, "x" * 200)
    assert len(long.name) == 80


def test_given_inputs_run_on_one_thread_and_on_two():
    array = np.arange(3)
    assert [(case.threads, case.inputs[0] is array) for case in as_cases([array])] == [(1, True), (2, True)]
    assert all(one.name == other.name for one, other in pairwise(as_cases([array])))
    assert not any(case.out_of_bounds for case in as_cases([array]))
