"""Runtimes that execute models: our kernel, OpenVINO, onnxruntime, PyTorch."""
