"""The operation Snake for OpenVINO: `openvino.Core().add_extension(snake.LIBRARY)`."""

from pathlib import Path

LIBRARY = str(Path(__file__).with_name("libsnake.so"))
GPU_CONFIG = str(Path(__file__).with_name("gpu.xml"))
