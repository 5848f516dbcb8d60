"""Doubts name reports of faults that there are."""

from ov_gather.plugin.register import ELSEWHERE, KNOWN
from ov_gather.ranges.doubts import DOUBTS


def test_doubts_name_faults_of_the_book():
    reports = {fault.report for fault in KNOWN} | ELSEWHERE.keys()
    named = [report for one in DOUBTS for report in one.reports]
    assert len(set(named)) == len(named) and reports.issuperset(named)
