"""Kinds of files that users give to commands, told by their suffix."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path, PurePath


@dataclass(frozen=True)
class Kind:
    """A kind of file: its name, its suffixes, and what to do where another kind is wanted."""

    name: str
    suffixes: tuple[str, ...]
    advice: str


IR = Kind("an OpenVINO IR", (".xml",), "commands for an IR: accelerate, check, harden, lower, prove, validate")
ONNX = Kind("an ONNX model", (".onnx",), "`ov-gather convert` writes an IR of it")
PROGRAM = Kind("a PyTorch program", (".pt2",), "`ov-gather convert --trust` writes an IR of it")
ARRAYS = Kind("a file of arrays", (".npz", ".npy"), "arrays are given by --input NAME=FILE.npy")
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""The first bytes of a file that Git has instead of one that Git LFS stores."""
LFS_REASON, LFS_ADVICE = "it is a pointer of Git LFS, not the file itself", "fetch the file with `git lfs pull`"
_KINDS = (
    *(IR, ONNX, PROGRAM, ARRAYS),
    Kind("a file of constants", (".bin",), "give the .xml of the same name"),
    Kind("a file of weights", (".pt", ".pth", ".ckpt", ".safetensors"), "export the model, to ONNX or with torch.export"),
    Kind("a TensorFlow model", (".pb", ".tflite", ".h5", ".keras"), "OpenVINO's own converter, ovc, reads it"),
)


def is_lfs_pointer(path: str | PathLike[str]) -> bool:
    """Return True if a file is a pointer of Git LFS; False for one that cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(LFS_POINTER)) == LFS_POINTER
    except OSError:
        return False


def kind_of(path: PurePath) -> Kind | None:
    """Return the kind of a file; None if its suffix says nothing."""
    return next((kind for kind in _KINDS if path.suffix.lower() in kind.suffixes), None)
