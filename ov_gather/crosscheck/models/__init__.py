"""Whole models: an IR with its own operands, and an ONNX model beside the IR that it became."""
