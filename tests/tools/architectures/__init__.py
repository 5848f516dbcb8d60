"""These architectures have random weights and are small; none is downloaded."""

import sys

# OpenVINO does without its telemetry where that cannot be imported; it would start a process for each event, and each of these
# would run the script again that exports.
sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
