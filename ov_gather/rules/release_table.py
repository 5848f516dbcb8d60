"""What each release of OpenVINO has that no earlier one has, as data. `python tests/tools/release_table.py` asks the releases.

The first row is the oldest release that was asked: all that the other rows do not name is in it. A row has a release, then an
opset with the types of layers that are new in it, or `element_type` with the names that the reader takes since then; * means
all other types of layers that the opset holds. A release without a row of news has nothing new. The attributes of operations,
and the words that these may be, are the same in all of these releases.
"""

TABLE = """
2024.6
2025.0 opset16 Convert Identity Parameter ShapeOf
2025.1 element_type undefined
2025.1 opset16 ISTFT SegmentMax
2025.2 opset16 SparseFillEmptyRows
2025.3 opset16 AvgPool
2025.4 opset16 OneHot
2026.0 opset16 *
2026.1
2026.2 opset17 Convert ErfInv Parameter ShapeOf
2026.3 opset17 GroupedMatMul
2026.4 opset17 BGRtoNV12 RGBtoNV12
"""
