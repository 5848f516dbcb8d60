"""`ov-gather explain`, as a user runs it."""

import pytest

from ov_gather.divergences.refusals import REFUSALS
from ov_gather.divergences.register import DIVERGENCES
from ov_gather.rules.register import RULES
from ov_gather.system.site import site
from tools.upstream.registry import FAULTS


def reproducer(report):
    """The line that names the page of a report, if the metadata of what is installed have the address of the site."""
    return [f"    reproducer: {site()}/evidence/upstream/{report}.html"] if site() else []


def test_a_rule(cli):
    done = cli("explain", "OVG401", code=0)
    assert done.stdout == f"OVG401 {RULES['OVG401'].name} (error)\n\n{RULES['OVG401'].documentation}\n"


def test_the_list(cli):
    lines = cli("explain").stdout.splitlines()
    assert [line.split()[0] for line in lines] == sorted(RULES)
    assert "OVG204  error    The value of an attribute lies outside its range" in "\n".join(lines)


def test_a_group(cli):
    assert {line[:4] for line in cli("explain", "OVG7").stdout.splitlines()} == {"OVG7"}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal(cli, name):
    assert cli("explain", name, code=0).stdout == f"{name}: {REFUSALS[name]}\n"


def test_an_unknown_rule(refusal):
    assert refusal("explain", "OVG4O1") == "error: there is no rule or group 'OVG4O1'; did you mean OVG401?\n"


def test_the_divergences(cli):
    done = cli("explain", "divergences", code=0)
    for known in DIVERGENCES:
        assert f"{known.name} ({', '.join(known.runtimes)}): {known.why}\n" in done.stdout
    assert "    Gather-7, Gather-8; differs or answers where our kernel refuses or crashes\n" in done.stdout


def test_a_divergence_with_releases_issues_and_reproducers(cli):
    lines = cli("explain", "unchecked-coordinates", code=0).stdout.splitlines()
    assert lines[1] == "    ScatterNDUpdate-3, ScatterNDUpdate-15; answers where our kernel refuses; before 2026.4"
    assert lines[2:] == ["    upstream: openvinotoolkit/openvino#37125", *reproducer("scatter_nd_checks_flat_place")]


def test_a_known_fault_and_one_that_no_rule_can_foresee(cli):
    assert cli("explain", "abs_of_clamp", code=0).stdout.splitlines() == [
        "abs_of_clamp (OVG710): Abs of a Clamp of constants disappears: negative elements stay negative",
        "    Abs; wrong results; since 2025.4",
        "    write Maximum(x, -x), or the constant with its absolute values; ov-gather convert avoids this",
        *reproducer("abs_of_clamp"),
    ]
    assert "`ov-gather prove` says for which inputs" in cli("explain", "gather_nd_out_of_bounds", code=0).stdout
    listed = cli("explain", "faults", code=0).stdout
    assert all(line in listed for report in FAULTS for line in (report, *reproducer(report)))
