"""The option that names a Dask cluster, for the commands that have work for one."""

from __future__ import annotations

import click

CONFIGURED = "config"
"""The address that stands for the one in Dask's own configuration."""

SCHEDULER = click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Let a Dask cluster do the work, e.g. tcp://10.0.0.5:8786; 'config': the scheduler-address in Dask's configuration.",
)
