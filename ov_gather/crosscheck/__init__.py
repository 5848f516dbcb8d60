"""The cross-check: every gather of a layer, an IR or a converted ONNX model, executed on several runtimes and compared."""
