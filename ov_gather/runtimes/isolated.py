"""Runtimes in worker processes: if one crashes or hangs, that is its result, and only its process ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from numpy.typing import NDArray

from ov_gather.extension import extension_path
from ov_gather.extension.users import UserExtension
from ov_gather.runtimes.base import FAILURES, ModelT, Runtime
from ov_gather.runtimes.devices import CPU, involved, leading, require_device
from ov_gather.system.interrupts import exit_code
from ov_gather.system.platforms import in_forked_processes
from ov_gather.system.worker import CrashedError, Worker

RUNTIMES = {
    "kernel": ("ov_gather.runtimes.kernel", "KernelRuntime"),
    "openvino": ("ov_gather.runtimes.openvino", "OpenVINORuntime"),
    "extension": ("ov_gather.runtimes.openvino", "ExtensionRuntime"),
    "onnxruntime": ("ov_gather.runtimes.onnxruntime", "OnnxRuntime"),
}
"""Module and class of each runtime."""
FOR_MODELS = {
    "accelerated": ("ov_gather.runtimes.configured", "AcceleratedRuntime"),
    "evaluated": ("ov_gather.runtimes.evaluated", "EvaluatedRuntime"),
    "configured": ("ov_gather.runtimes.configured", "ConfiguredRuntime"),
    "torch": ("ov_gather.runtimes.pytorch", "TorchRuntime"),
    "plain onnxruntime": ("ov_gather.runtimes.onnxruntime", "PlainOnnxRuntime"),
}
"""Module and class of the runtimes for whole models only."""
_WITH_EXTENSION = ("extension", "accelerated")
OF_USERS = {
    "library": ("ov_gather.runtimes.library", "LibraryRuntime"),
    "reference": ("ov_gather.runtimes.reference", "ReferenceRuntime"),
}
"""Module and class of the runtimes for one layer of an operation of users."""
ON_DEVICES = ("openvino", "extension", "accelerated", "library")
"""Runtimes that execute on the requested device; the others always use the CPU."""
_OF_OPENVINO = (*ON_DEVICES, "configured")
"""Runtimes that load extensions of users."""


class IsolatedRuntime(Runtime[ModelT]):
    """A runtime in a worker process, which starts at once and restarts after a crash.

    `device` is the OpenVINO device for models activated next. `devices` are this one and those that executed the last compiled
    model, as chosen by AUTO or HETERO. `extensions` are those of users that the process loads.
    """

    def __init__(self, name: str, extensions: tuple[UserExtension, ...] = ()) -> None:
        self.name = name
        self.extensions = extensions
        self.device = CPU
        self.devices: tuple[str, ...] = (CPU,)
        self._version = ""
        self._worker = _started(name)

    @property
    def version(self) -> str:
        """The version of the runtime. Raises ImportError if it is not installed or cannot start."""
        self._version = self._version or self._living_worker().version()
        return self._version

    @property
    def seconds(self) -> float:
        """The duration of the last call, measured in the worker process, in seconds."""
        return self._worker.seconds

    def activate(self, model: ModelT, threads: int = 0) -> None:
        """Load a model. Raises RefusedError; CrashedError; ImportError if the runtime is not installed or cannot start."""
        worker = self._living_worker()
        if self.name not in ON_DEVICES or (self.device == CPU and not self.extensions):
            worker.ask("activate", model, threads)
        else:
            worker.ask("activate", model, threads, self.device, self.extensions)
            self.devices = involved(self.device, worker.ask("execution_devices"))

    def execute(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Execute the activated model. Raises RefusedError; CrashedError, after which a model must be activated again."""
        outputs: list[NDArray[Any]] = self._worker.ask("execute", inputs)
        return outputs

    def run(self, model: ModelT, inputs: Sequence[NDArray[Any]], threads: int = 0) -> list[NDArray[Any]] | Exception:
        """Execute a model once; return its outputs or the error. Raises ImportError if the runtime cannot start."""
        try:
            with self:
                self.activate(model, threads)
                return self.execute(inputs)
        except FAILURES as error:
            return error

    def ask(self, method: str, *arguments: object, limit: float = 0) -> Any:
        """Call a method specific to the activated runtime, for at most `limit` seconds, if given. Raises CrashedError."""
        return self._worker.ask(method, *arguments, limit=limit)

    def close(self) -> None:
        """Release the activated model. The worker process stays."""
        if self._worker.alive:
            self._worker.ask("close")

    def stop(self) -> None:
        """Kill the process, even during a call."""
        self._worker.stop()

    def _living_worker(self) -> Worker:
        if exit_code() is not None:
            raise CrashedError("is not started: this process is about to end")
        if not self._worker.alive:
            self._worker = _started(self.name)
        return self._worker


def _started(name: str) -> Worker:
    """Start the worker process of a runtime."""
    if name in _WITH_EXTENSION:
        extension_path()  # if it must be compiled, do so here, with a progress bar and no time limit
    return Worker(*(RUNTIMES | FOR_MODELS | OF_USERS)[name])


_idle: defaultdict[tuple[str, tuple[UserExtension, ...]], list[IsolatedRuntime[Any]]] = defaultdict(list)


@contextmanager
def borrowed(
    names: Sequence[str], device: str = CPU, extensions: tuple[UserExtension, ...] = ()
) -> Iterator[list[IsolatedRuntime[Any]]]:
    """Yield runtimes for exclusive use. They stay alive, so that the next borrower need not wait for them to start.

    Those of OpenVINO know the operations of `extensions`; a process that has loaded these executes nothing else later.

    Raises ValueError if OpenVINO does not have the device.
    """
    require_device(device)
    runtimes = [_take(name, extensions if name in _OF_OPENVINO else ()) for name in names]
    for runtime in runtimes:
        runtime.device = device if runtime.name in ON_DEVICES else CPU
        runtime.devices = involved(runtime.device, leading(runtime.device))
    try:
        yield runtimes
    finally:
        for runtime in runtimes:
            _idle[runtime.name, runtime.extensions].append(runtime)


def _take(name: str, extensions: tuple[UserExtension, ...]) -> IsolatedRuntime[Any]:
    try:
        return _idle[name, extensions].pop()
    except IndexError:
        return IsolatedRuntime(name, extensions)


in_forked_processes(_idle.clear)  # these workers belong to the parent
