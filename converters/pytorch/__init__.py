"""Conversion of PyTorch's exported programs to OpenVINO."""
