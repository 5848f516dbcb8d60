"""Check for a Dask scheduler at an address."""

from __future__ import annotations

import asyncio
from typing import Any

ANSWER = 8.0
"""Seconds within which a scheduler must answer."""


class ClusterError(OSError):
    """A cluster cannot start or continue the work."""


def require_scheduler(address: str) -> None:
    """Query the identity of a scheduler before a client is made, whose threads would retry for minutes without an answer.

    Raises ClusterError if there is no answer within seconds, or not that of a scheduler.
    """
    try:
        answer = asyncio.run(asyncio.wait_for(_identity(address), ANSWER))
    except (TimeoutError, asyncio.TimeoutError):
        raise ClusterError(f"there is no Dask scheduler at {address}: no answer within {ANSWER:g} s") from None
    except Exception as error:  # Dask raises many types for malformed answers
        raise ClusterError(f"there is no Dask scheduler at {address}: {first_line(error, address)}") from None
    kind = answer.get("type") if isinstance(answer, dict) else None
    if kind != "Scheduler":
        raise ClusterError(f"there is no Dask scheduler at {address}, but {f'a {kind}' if kind else 'something else'}")


async def _identity(address: str) -> Any:
    from distributed.core import connect
    from distributed.security import Security

    comm = await connect(address, timeout=ANSWER, **Security().get_connection_args("client"))
    try:
        await comm.write({"op": "identity", "reply": True})
        return await comm.read()
    finally:
        comm.abort()


def first_line(error: BaseException, address: str = "") -> str:
    """Return the first line of an error, or its type, without the user and password of an address."""
    line = (str(error).splitlines() or [type(error).__name__])[0]
    user = address.partition("://")[2].rpartition("@")[0]
    return line.replace(f"{user}@", "") if user else line
