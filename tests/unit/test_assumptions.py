"""The option --assume of the command line."""

import click
import pytest

from ov_gather.cli.options import parsed


@pytest.mark.parametrize(
    ("text", "name", "limits"),
    [
        ("input_ids=0..999", "input_ids", (0, 999)),
        ("i=-5..-1", "i", (-5, -1)),
        ("dim(x, 1)=5..", "dim(x, 1)", (5, None)),
        ("x=..7", "x", (None, 7)),
        ("x=-0.5..1e3", "x", (-0.5, 1000.0)),
        ("a=b:0=1..2", "a=b:0", (1, 2)),
        ("a..b=0..1", "a..b", (0, 1)),
    ],
)
def test_what_is_assumed(text, name, limits):
    assert parsed((text,)) == {name: limits}


@pytest.mark.parametrize("text", ["x", "x=5", "x=0...5", "x=a..b", "=0..1", "0..5", "x=0..1..2", "x=0.. 5"])
def test_what_is_not_understood_is_named(text):
    with pytest.raises(click.UsageError, match=r"give NAME=LO\.\.HI") as error:
        parsed((text,))
    assert text in str(error.value)


def test_twice():
    with pytest.raises(click.UsageError, match="x is given twice"):
        parsed(("x=0..5", "x=1..2"))
