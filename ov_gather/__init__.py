"""ov-gather: the gather family for OpenVINO, exactly as ONNX means it.

All public names are importable from here and loaded on first use: `import ov_gather` loads neither NumPy nor OpenVINO.
"""

from __future__ import annotations

import sys as _sys
from importlib import import_module
from importlib.util import spec_from_file_location as _spec_from_file_location
from pathlib import Path as _Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec as _ModuleSpec

    import ov_gather.converters as converters
    from ov_gather.acceleration.accelerate import accelerate
    from ov_gather.acceleration.harden import harden
    from ov_gather.converters.drop_in import convert_model
    from ov_gather.crosscheck.bisect.run import bisect
    from ov_gather.crosscheck.check import cross_check
    from ov_gather.extension import extension_path, register
    from ov_gather.guards.guard import guard
    from ov_gather.ir.differences.diff import diff
    from ov_gather.ir.errors import IRError
    from ov_gather.ir.reader import read_ir
    from ov_gather.kernels.gather import gather
    from ov_gather.kernels.gather_elements import gather_elements
    from ov_gather.kernels.gather_nd import gather_nd
    from ov_gather.kernels.gather_scatter import gather_scatter
    from ov_gather.kernels.native import set_num_threads
    from ov_gather.kernels.scatter_elements import scatter_elements
    from ov_gather.kernels.scatter_nd import scatter_nd
    from ov_gather.ops.users import declare
    from ov_gather.ranges.prove import prove
    from ov_gather.rules.validation import validate
    from ov_gather.runtimes.kernel import execute

    __version__: str

__all__ = [
    "IRError",
    "accelerate",
    "bisect",
    "convert_model",
    "converters",
    "cross_check",
    "declare",
    "diff",
    "execute",
    "extension_path",
    "gather",
    "gather_elements",
    "gather_nd",
    "gather_scatter",
    "guard",
    "harden",
    "prove",
    "read_ir",
    "register",
    "scatter_elements",
    "scatter_nd",
    "set_num_threads",
    "validate",
]

_HOME = {
    "IRError": "ov_gather.ir.errors",
    "accelerate": "ov_gather.acceleration.accelerate",
    "bisect": "ov_gather.crosscheck.bisect.run",
    "convert_model": "ov_gather.converters.drop_in",
    "cross_check": "ov_gather.crosscheck.check",
    "declare": "ov_gather.ops.users",
    "diff": "ov_gather.ir.differences.diff",
    "execute": "ov_gather.runtimes.kernel",
    "extension_path": "ov_gather.extension",
    "gather": "ov_gather.kernels.gather",
    "gather_nd": "ov_gather.kernels.gather_nd",
    "gather_scatter": "ov_gather.kernels.gather_scatter",
    "guard": "ov_gather.guards.guard",
    "harden": "ov_gather.acceleration.harden",
    "scatter_elements": "ov_gather.kernels.scatter_elements",
    "scatter_nd": "ov_gather.kernels.scatter_nd",
    "gather_elements": "ov_gather.kernels.gather_elements",
    "prove": "ov_gather.ranges.prove",
    "read_ir": "ov_gather.ir.reader",
    "register": "ov_gather.extension",
    "set_num_threads": "ov_gather.kernels.native",
    "validate": "ov_gather.rules.validation",
}


class _BesideThePackage:
    """Finder of `ov_gather.converters` in a checkout, where the folder lies beside this package."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> _ModuleSpec | None:
        folder = _Path(__file__).parents[1] / "converters"
        if name != "ov_gather.converters" or not (folder / "__init__.py").is_file():
            return None
        return _spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[str(folder)])


_sys.meta_path.append(_BesideThePackage)  # the last: asked where nothing installed has the converters


def _value_of(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("ov-gather")
    if name not in __all__:
        raise AttributeError(f"module 'ov_gather' has no attribute '{name}'")
    if name == "converters":
        return import_module("ov_gather.converters")
    return getattr(import_module(_HOME[name]), name)


if not TYPE_CHECKING:  # a type checker that sees `__getattr__` accepts every name

    def __getattr__(name: str) -> Any:
        try:
            value = _value_of(name)
        except ModuleNotFoundError as error:
            from ov_gather.system.imports import explained

            raise explained(error) from error
        globals()[name] = value  # skip __getattr__ next time: it takes longer than a small gather
        return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
