"""The option of commands that measure how many threads OpenVINO, and everyone beside it, has."""

from __future__ import annotations

import os

import click

THREADS = click.option(
    "--threads", type=click.IntRange(1, 1024), default=os.cpu_count() or 1, show_default=True, help="For everyone."
)
