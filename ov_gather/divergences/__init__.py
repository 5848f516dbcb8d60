"""Known deviations of runtimes from ONNX: which, under which conditions, and the result they give instead."""
