"""What several commands are tested with."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two worker processes, which are started again when they die; a task that takes a worker with it is not tried again."""
    import dask

    from helpers.clusters import local_cluster

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        local_cluster(tmp_path_factory.mktemp("dask"), 2) as made,
    ):
        yield made


@pytest.fixture(scope="session")
def refusal(cli: Callable[..., Any]) -> Callable[..., str]:
    """A function that returns what a command says which cannot do what it is told to; nothing else is written."""

    def run(*arguments: object, **options: object) -> str:
        done = cli(*arguments, **options)
        assert (done.returncode, done.stdout) == (2, "")
        return done.stderr

    return run
