"""What each release of OpenVINO adds, as data; `python tests/tools/release_table.py` reads it from the releases.

The first row is the oldest release; whatever later rows do not name is in it. A row has a release, then either an opset with
the layer types that are new in it (* = all other types that the opset holds), or `element_type` with the names that the reader
accepts since then. A row with a release alone adds nothing. The attributes of operations and the words that they accept are
the same in all of these releases.
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
