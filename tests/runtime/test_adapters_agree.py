"""An IR tells less of shapes than a model in memory, and `prove` finds out the same of both."""

import pytest

from helpers.random_index_models import sample
from helpers.range_analysis import by_ir, by_openvino


@pytest.mark.parametrize("seed", [243, 279, 302, 397, 482, 621])
def test_both_adapters_say_the_same_of_each_site(seed: int) -> None:
    """Bounds of inner dimensions, which an IR does not hold, follow from rules for shapes."""
    model = sample(seed).model
    (_, in_ir), (_, in_memory) = by_ir(model), by_openvino(model)
    assert {name: verdict.status for name, verdict in in_ir.items()} == {
        name: verdict.status for name, verdict in in_memory.items()
    }
