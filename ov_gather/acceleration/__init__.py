"""OpenVINO models with other gathers: `ov_gather.accelerate`, and its passes, one a file."""
