"""Exported programs of PyTorch to OpenVINO."""
