"""The rows of tests/helpers/pairwise.py."""

from itertools import combinations, product

import pytest

from helpers.pairwise import pairwise


@pytest.mark.parametrize("sizes", [(3, 2), (2, 2, 2), (5, 3, 2, 4), (7, 1, 3)], ids=str)
def test_every_pair_of_values_and_no_row_twice(sizes):
    values = [[f"{place}{value}" for value in range(size)] for place, size in enumerate(sizes)]
    rows = pairwise(*values)
    assert len(set(rows)) == len(rows)
    assert {value for row in rows for value in row} == {value for of in values for value in of}
    for first, second in combinations(range(len(sizes)), 2):
        assert {(row[first], row[second]) for row in rows} == set(product(values[first], values[second]))
    assert rows == pairwise(*values)


def test_values_need_no_hash_and_rows_are_few():
    assert pairwise([{}, []], [[1]]) == [({}, [1]), ([], [1])]
    assert len(pairwise(range(9), range(3), range(2), range(2), range(4))) == 36
