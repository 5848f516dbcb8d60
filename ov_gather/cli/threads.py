"""The option for the number of threads in measurements, the same for OpenVINO and all peers."""

from __future__ import annotations

import os

import click

THREADS = click.option(
    "--threads", type=click.IntRange(1, 1024), default=os.cpu_count() or 1, show_default=True, help="Threads in measurements."
)
