"""Files and facts are told apart by their names, whatever these are."""

import os
from pathlib import Path

import pytest

from ov_gather import validate
from ov_gather.report.page import cards
from ov_gather.rules.baseline import read_baseline, write_baseline

BROKEN = b'<net name="m" version="11"><layers></layers><edges></edges><wrong/></net>'


@pytest.mark.skipif(os.name == "nt", reason="names of files are no bytes there")
def test_a_baseline_takes_no_file_for_another(tmp_path: Path):
    r"""The byte 255, the four characters \xff, and a backslash before them."""
    files = [str(tmp_path / os.fsdecode(name)) for name in (b"a\xff.xml", b"a\\xff.xml", b"a\\\\xff.xml")]
    for file in files:
        Path(file).write_bytes(BROKEN)
    findings = {file: validate(file) for file in files}
    assert all(findings.values())
    for known in files:
        baseline = tmp_path / "baseline.json"
        baseline.unlink(missing_ok=True)
        write_baseline(baseline, [known], findings[known])
        for file in files:
            assert all(read_baseline(baseline).holds(one) for one in findings[file]) is (file == known)
    write_baseline(baseline, [files[0]], findings[files[0]])
    assert all(read_baseline(baseline).holds(one) for file in (files[0], files[-1]) for one in findings[file])


@pytest.mark.parametrize("facts", [["a\nb"], ["a\\nb"], ["a", "b"], ["", "b"], [""], ["\\0"]])
def test_the_facts_of_a_card_are_those_that_its_filters_offer(facts: list[str]):
    """The script of the page compares the lines of the fact with the value of the option."""
    (lines,) = cards.data({"file": facts}).values()
    for other in (["a\nb"], ["a\\nb"], ["a"], ["b"], [""], ["\\0"]):
        (value,) = [value for value, text in cards.options("any", other).items() if text == other[0]]
        assert (value in lines.split("\n")) is (other[0] in facts)
        assert value != ""
