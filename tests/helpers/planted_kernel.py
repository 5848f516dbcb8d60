"""Our kernel with another compiled part: the one that PLANTED_KERNEL names. For a worker process to load."""

import importlib.util
import os
import sys

_spec = importlib.util.spec_from_file_location("ov_gather._native", os.environ["PLANTED_KERNEL"])
sys.modules["ov_gather._native"] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(sys.modules["ov_gather._native"])

from ov_gather.runtimes.kernel import KernelRuntime  # noqa: E402, F401 - imports the planted part
