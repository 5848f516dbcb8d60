"""What `validate` costs on a large model, in counted steps of Python a layer: a limit for rules to come."""

from helpers.steps import steps_of
from ov_gather import validate
from ov_gather.bench.validation import generate
from ov_gather.ir.reader import read_document

LIMIT = 1800
"""Steps a layer, with CPython 3.11 about 1,400; other versions count a few more or fewer."""


def test_steps_a_layer(tmp_path):
    steps, counts = [], []
    for layers in (600, 1800):
        path = tmp_path / f"{layers}.xml"
        generate(path, layers)
        assert validate(path) == []  # imports, and fills caches
        steps.append(steps_of(lambda path=path: validate(path)))
        model = read_document(path, None).model
        assert model is not None
        counts.append(len(model.layers))
    assert (steps[1] - steps[0]) / (counts[1] - counts[0]) < LIMIT
