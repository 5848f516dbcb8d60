"""Comparison of whole models on two runtimes: an ONNX model with its conversion, or an IR with and without our gathers."""
