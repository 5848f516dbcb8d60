"""Rewrites of an `openvino.Model`: `accelerate` and its passes, one a file; `harden`."""
