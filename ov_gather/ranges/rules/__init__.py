"""Transfer functions, grouped by meaning; `onnx` and `openvino` map operations to them."""
