"""Foreign runtimes, each in a process of its own: one that crashes or hangs is an observation, and costs nothing but itself."""

from __future__ import annotations

import atexit
import signal
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import Pipe
from typing import Any
from weakref import WeakSet

from numpy.typing import NDArray

from ov_gather.extension import extension_path
from ov_gather.extras import explained
from ov_gather.interrupts import exit_code, on_end
from ov_gather.platforms import in_forked_processes
from ov_gather.runtimes.base import HANGS, CrashedError, HungError, ModelT, RefusedError, Runtime
from ov_gather.runtimes.devices import CPU, involved, leading, require_device
from ov_gather.runtimes.launcher import end_launcher, start

RUNTIMES = {
    "kernel": ("ov_gather.runtimes.kernel", "KernelRuntime"),
    "openvino": ("ov_gather.runtimes.openvino", "OpenVINORuntime"),
    "extension": ("ov_gather.runtimes.openvino", "ExtensionRuntime"),
    "onnxruntime": ("ov_gather.runtimes.onnxruntime", "OnnxRuntime"),
}
"""By name of a runtime, the module and the class that it is."""
FOR_MODELS = {
    "accelerated": ("ov_gather.runtimes.accelerated", "AcceleratedRuntime"),
    "configured": ("ov_gather.runtimes.configured", "ConfiguredRuntime"),
    "torch": ("ov_gather.runtimes.pytorch", "TorchRuntime"),
    "plain onnxruntime": ("ov_gather.runtimes.onnxruntime", "PlainOnnxRuntime"),
}
"""By name, the same for runtimes that have no use for single layers."""
_WITH_EXTENSION = ("extension", "accelerated")
ON_DEVICES = ("openvino", "extension", "accelerated")
"""The runtimes that execute on the device that is named; the others have no other than the CPU."""
TIME_LIMIT = 120.0
"""Seconds for one answer of a worker."""


class IsolatedRuntime(Runtime[ModelT]):
    """A runtime in a worker process, which starts at once, and anew for the model after the one that it died of.

    `device` is where OpenVINO is to execute the models that are activated next; `devices` are this one and those that executed
    the last model that could be compiled, as AUTO and HETERO choose.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.device = CPU
        self.devices: tuple[str, ...] = (CPU,)
        self._version = ""
        self._worker = _Worker(name)

    @property
    def version(self) -> str:
        """The version that the runtime says. Raises ImportError where it is not installed, or cannot start."""
        self._version = self._version or self._living_worker().version()
        return self._version

    @property
    def seconds(self) -> float:
        """The seconds that the last call took in the worker process itself."""
        return self._worker.seconds

    def activate(self, model: ModelT, threads: int = 0) -> None:
        """Load a model. Raises RefusedError; CrashedError; ImportError where the runtime is not installed, or cannot start."""
        worker = self._living_worker()
        if self.device == CPU:
            worker.ask("activate", model, threads)
        else:
            worker.ask("activate", model, threads, self.device)
            self.devices = involved(self.device, worker.ask("execution_devices"))

    def execute(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Run the activated model. Raises RefusedError; CrashedError, after which a model must be activated again."""
        outputs: list[NDArray[Any]] = self._worker.ask("execute", inputs)
        return outputs

    def run(self, model: ModelT, inputs: Sequence[NDArray[Any]], threads: int = 0) -> list[NDArray[Any]] | Exception:
        """Execute a model once: its outputs, or why there are none. Raises ImportError where the runtime cannot start."""
        try:
            with self:
                self.activate(model, threads)
                return self.execute(inputs)
        except (RefusedError, CrashedError, IndexError) as error:
            return error

    def ask(self, method: str) -> Any:
        """Call a method of the activated runtime that others do not have. Raises CrashedError."""
        return self._worker.ask(method)

    def close(self) -> None:
        """Free what `activate` took. The worker process stays."""
        if self._worker.alive:
            self._worker.ask("close")

    def stop(self) -> None:
        """End the process, whatever it does."""
        self._worker.stop()

    def _living_worker(self) -> _Worker:
        if exit_code() is not None:
            raise CrashedError("is not started: this process is about to end")
        if not self._worker.alive:
            self._worker = _Worker(self.name)
        return self._worker


_workers: WeakSet[_Worker] = WeakSet()


def _kill_all() -> None:
    for worker in list(_workers):
        worker.kill()


on_end(_kill_all)


class _Worker:
    """A process that executes `worker.py`."""

    def __init__(self, name: str) -> None:
        if name in _WITH_EXTENSION:
            extension_path()  # is compiled here if need be, where a terminal shows how far it is, and no time limit holds
        module, class_name = (RUNTIMES | FOR_MODELS)[name]
        self._version = ""
        self.seconds = 0.0
        self._is_killed = False
        self._connection, theirs = Pipe()
        with theirs:  # its end would go unnoticed while we had a copy
            self._process = start(module, class_name, theirs.fileno())
        _workers.add(self)
        if exit_code() is not None:  # the signal that ends this process came before `_kill_all` could know of this worker
            self.kill()

    @property
    def alive(self) -> bool:
        return not self._is_killed and self._process.poll() is None

    def version(self) -> str:
        """Return the version, which the process says first, without being asked."""
        if not self._version:
            try:
                self._version = self._receive()
            except CrashedError as error:
                raise ImportError(f"a worker process cannot start: {error}") from None
            finally:
                if not self._version:
                    self.stop()
        return self._version

    def ask(self, method: str, *arguments: object) -> Any:
        self.version()
        answer, self.seconds = self._receive((method, arguments))
        if isinstance(answer, Exception):
            raise answer
        return answer

    def kill(self) -> None:
        """End the process at once, in the middle of anything: who waits for an answer learns that there is none."""
        self._is_killed = True
        self._process.kill()

    def stop(self) -> None:
        self._connection.close()
        self._process.kill()
        self._process.wait()

    def _receive(self, question: object = None) -> Any:
        try:
            if question:
                self._connection.send(question)
            if not self._connection.poll(TIME_LIMIT):
                raise HungError(f"{HANGS}: no answer within {TIME_LIMIT:g} s")
            answer = self._connection.recv()
        except (EOFError, OSError):
            raise CrashedError(f"crashes: {_ending(self._process.wait())}") from None
        except BaseException:
            self.stop()  # or the next answer would be one to this question
            raise
        if isinstance(answer, ImportError):
            raise explained(answer)
        if isinstance(answer, Exception):
            raise answer
        return answer


def _ending(exit_code: int) -> str:
    return signal.Signals(-exit_code).name if exit_code < 0 else f"exit code {exit_code}"


_idle: defaultdict[str, list[IsolatedRuntime[Any]]] = defaultdict(list)


@contextmanager
def borrowed(names: Sequence[str], device: str = CPU) -> Iterator[list[IsolatedRuntime[Any]]]:
    """Runtimes that nobody else uses meanwhile. They live on: the next borrower need not wait until they have started.

    Raises ValueError where OpenVINO does not have the device.
    """
    require_device(device)
    runtimes = [_take(name) for name in names]
    for runtime in runtimes:
        runtime.device = device if runtime.name in ON_DEVICES else CPU
        runtime.devices = involved(runtime.device, leading(runtime.device))
    try:
        yield runtimes
    finally:
        for runtime in runtimes:
            _idle[runtime.name].append(runtime)


def _take(name: str) -> IsolatedRuntime[Any]:
    try:
        return _idle[name].pop()
    except IndexError:
        return IsolatedRuntime(name)


@atexit.register
def _stop_idle() -> None:
    for runtimes in _idle.values():
        for runtime in runtimes:
            runtime.stop()
    end_launcher()


def _forget_idle() -> None:
    for runtimes in _idle.values():
        runtimes.clear()


in_forked_processes(_forget_idle)  # they are the parent's
