"""Cross-check of gathers: each layer, IR or converted ONNX model is executed on several runtimes, and the results compared."""
