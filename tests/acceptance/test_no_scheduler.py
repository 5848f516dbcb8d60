"""An address that nobody answers, or that is no Dask scheduler: an end in seconds, one line, exit 2, no thread left."""

import socket
import threading
import time
from contextlib import contextmanager, suppress

import pytest

from helpers.loaded import is_within
from ov_gather.workers import cluster
from ov_gather.workers.cluster import ClusterError, in_cluster


@contextmanager
def listening(answer):
    """Yield the port of a server that sends `answer` to each client, and nothing if it is None."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        clients = []

        def serve():
            with suppress(OSError):
                while True:
                    client, _ = server.accept()
                    clients.append(client)
                    if answer is not None:
                        client.sendall(answer)
                        client.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        for client in clients:
            client.close()
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("answer", [None, b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", bytes(64)])
@pytest.mark.parametrize("scheme", ["tcp", "tls"])
def test_what_is_no_scheduler(answer, scheme, monkeypatch):
    monkeypatch.setattr(cluster, "_ANSWER", 2.0)
    with listening(answer) as port:
        before, start = threading.active_count(), time.monotonic()
        with pytest.raises(ClusterError, match=f"^there is no Dask scheduler at {scheme}://127.0.0.1:{port}") as raised:
            next(in_cluster(str, ["item"], f"{scheme}://127.0.0.1:{port}"))
        assert is_within(time.monotonic() - start, 9)
        assert "\n" not in str(raised.value)
        assert threading.active_count() <= before


@pytest.mark.exhaustive
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "foo://x", "nonsense"])
def test_the_command_ends_with_one_line(real_cli, address):
    start = time.monotonic()
    done = real_cli("validate", "ir_samples/valid", "--scheduler", address)
    assert is_within(time.monotonic() - start, 15)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: there is no Dask scheduler at {address}: ")
    assert done.stderr.count("\n") == 1
