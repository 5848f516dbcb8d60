"""Anything that executes a model: our kernel, OpenVINO, onnxruntime."""
