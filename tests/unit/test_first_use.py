"""The extension that is compiled on first use: where it is kept, what is refused, and what is said where there is none."""

import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module, metadata
from pathlib import Path
from threading import Barrier
from types import ModuleType, SimpleNamespace

import pytest

from ov_gather.extension import cache, compiling, installed

HEADER = """#define OPENVINO_VERSION_MAJOR 2025
#define OPENVINO_VERSION_MINOR 9
#define OPENVINO_VERSION_PATCH 3
"""
LIBRARIES = ("libopenvino.so.2593", "libopenvino_onnx_frontend.so.2593", "libtbb.so.12")


@pytest.fixture
def package(tmp_path):
    """A directory that looks like the package openvino of a release that there is not."""
    folder = tmp_path / "site-packages" / "openvino"
    for name, text in {
        "include/openvino/core/version.hpp": HEADER,
        "cmake/OpenVINOTargets.cmake": 'INTERFACE_COMPILE_DEFINITIONS "_GLIBCXX_USE_CXX11_ABI=0;OV_THREAD=OV_THREAD_TBB"',
        **{f"libs/{library}": "" for library in LIBRARIES},
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """A list of what was compiled, by a compiler that writes a text, and takes a while so that others could come between."""
    done = []

    def compile_extension(openvino, library):
        library.write_text(f"the first half for {openvino.release}")
        done.append(openvino)
        with library.open("a") as file:
            file.write(", and the second")

    monkeypatch.setattr(cache, "compile_extension", compile_extension)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    return done


@pytest.fixture
def openvino(package, compiled):
    """What is installed in that directory, with the compiler that writes a text."""
    return installed.read(package)


def test_what_is_installed_is_read_from_its_headers(openvino, package):
    assert (openvino.release, openvino.cxx11_abi) == ("2025.9.3", "0")
    assert openvino.library("libopenvino") == package / "libs" / "libopenvino.so.2593"


def test_it_is_compiled_once_and_found_again(openvino, package, compiled, tmp_path):
    library = cache.library(openvino)
    assert tmp_path / "caches" / "ov-gather" in library.parents
    assert library.read_text() == "the first half for 2025.9.3, and the second"
    assert (library.parent / "libs").resolve() == package / "libs"
    assert cache.library(openvino) == library
    assert compiled == [openvino]


def test_a_copy_of_the_cache_without_its_links_is_mended(openvino, package, compiled):
    links = [cache.library(openvino).parent / name for name in ("libs", "kernel")]
    links[0].unlink()
    links[1].unlink()
    links[1].symlink_to("nowhere")
    cache.library(openvino)
    assert links[0].resolve() == package / "libs"
    assert links[1].is_dir()
    assert compiled == [openvino]


def test_one_made_ahead_serves_where_its_release_is_installed(openvino, package, compiled):
    made = cache.make(openvino)
    moved = package.rename(package.with_name("moved"))
    library = cache.library(installed.read(moved))
    assert library.read_text() == made.read_text()
    assert (library.parent / "libs").resolve() == moved / "libs"
    assert compiled == [openvino]


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("include/openvino/core/version.hpp", "MINOR 9", "MINOR 8"),
        ("include/openvino/core/version.hpp", "PATCH 3", "PATCH 4"),
        ("cmake/OpenVINOTargets.cmake", "CXX11_ABI=0", "CXX11_ABI=1"),
    ],
)
def test_another_release_or_abi_has_a_library_of_its_own(package, compiled, file, old, new):
    first = cache.library(installed.read(package))
    (package / file).write_text((package / file).read_text().replace(old, new))
    assert cache.library(installed.read(package)) != first
    assert len(compiled) == 2


def test_other_sources_make_another_library(package, compiled, monkeypatch):
    first = cache.library(installed.read(package))
    monkeypatch.setattr(cache, "digest", lambda: "of other sources")
    assert cache.library(installed.read(package)) != first


def test_several_that_need_it_at_once_compile_it_once(package, compiled):
    openvino, start = installed.read(package), Barrier(8)

    def ask(_):
        start.wait()
        return cache.library(openvino).read_text()

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(8))) == {"the first half for 2025.9.3, and the second"}
    assert compiled == [openvino]


ASKS = """
import sys, time
from pathlib import Path
from ov_gather.extension import cache, installed

def compile_extension(openvino, library):
    with Path(sys.argv[2]).open("a") as file:
        file.write("compiled, ")
    library.write_text("half a")
    time.sleep(0.2)
    library.write_text("the library")

cache.compile_extension = compile_extension
openvino = installed.read(Path(sys.argv[1]))
print("ready", flush=True)
input()
print(cache.library(openvino).read_text())
"""


def test_several_processes_that_need_it_at_once_compile_it_once(package, compiled, tmp_path):
    command = [sys.executable, "-c", ASKS, package, tmp_path / "log"]
    workers = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [worker.stdout.readline() for worker in workers] == ["ready\n"] * 2
    for worker in workers:
        print(file=worker.stdin, flush=True)
    assert [worker.communicate(timeout=60)[0] for worker in workers] == ["the library\n"] * 2
    assert (tmp_path / "log").read_text() == "compiled, "


@pytest.mark.parametrize("damage", ["the first half", "", "another library of the same name"])
@pytest.mark.parametrize("everywhere", [False, True])
def test_a_library_that_is_not_the_one_that_was_compiled_is_not_loaded(openvino, compiled, damage, everywhere):
    library = cache.library(openvino)
    whole = library.read_text()
    for path in [library, library.parent.parent / library.name] if everywhere else [library]:
        path.write_text(damage)
    assert cache.library(openvino).read_text() == whole
    assert len(compiled) == 1 + everywhere


def test_a_checksum_that_is_not_ours_is_made_anew(openvino, compiled):
    library = cache.library(openvino)
    (library.parent.parent / f"{library.name}.sha256").write_bytes(b"\xff\xfe")
    assert cache.library(openvino).read_text().endswith("the second")
    assert len(compiled) == 2


def test_a_directory_in_the_place_of_the_library_is_said(openvino):
    library = cache.library(openvino)
    library.unlink()
    (library / "full").mkdir(parents=True)
    with pytest.raises(OSError, match=r"cannot be kept in .* \(Is a directory\): let XDG_CACHE_HOME name"):
        cache.library(openvino)


def test_without_a_home_directory(package, compiled, monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(OSError, match=r"^there is no home directory to keep a cache in: let XDG_CACHE_HOME name"):
        cache.library(installed.read(package))


def test_nothing_is_left_of_a_compilation_that_failed(openvino, monkeypatch):
    def fail(openvino, library):
        library.write_text("half")
        raise ImportError("it fails")

    with monkeypatch.context() as patch, pytest.raises(ImportError, match="it fails"):
        patch.setattr(cache, "compile_extension", fail)
        cache.library(openvino)
    (folder,) = (cache._folder(openvino).parent).iterdir()
    assert [path.name for path in folder.iterdir()] == ["lock"]
    assert cache.library(openvino).read_text().endswith("the second")


def test_a_cache_directory_that_cannot_be_written(package, compiled, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(OSError, match=r"cannot be kept in .*file/ov-gather/.*: let XDG_CACHE_HOME name a directory"):
        cache.library(installed.read(package))


def test_an_openvino_without_headers(package):
    (package / "include" / "openvino" / "core" / "version.hpp").unlink()
    with pytest.raises(FileNotFoundError, match=r"has no C\+\+ headers, .*: pip install 'openvino>=2024\.6'"):
        installed.read(package)


def test_an_openvino_whose_python_interface_is_too_old(monkeypatch):
    old = ModuleType("openvino")
    old.get_version = lambda: "2024.0.0-14509-34caeefd078"
    for name, module in {"openvino": old, "openvino.runtime": ModuleType("openvino.runtime")}.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "ov_gather.extension.python_api", raising=False)
    with pytest.raises(ImportError, match=r"^OpenVINO 2024\.0\.0 is too old for this: pip install 'openvino>=2024\.6'$"):
        import_module("ov_gather.extension.python_api")


def test_headers_and_libraries_of_two_releases(package, tmp_path):
    (package / "libs" / "libopenvino.so.2593").rename(package / "libs" / "libopenvino.so.2594")
    with pytest.raises(ImportError, match=r"OpenVINO 2025\.9\.3 has no .*libopenvino\.so\.2593: pip install --force-reinstall"):
        compiling.compile_extension(installed.read(package), tmp_path / "library.so")


def test_without_a_compiler(package, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(FileNotFoundError, match=r"no C\+\+17 compiler \(g\+\+\): install one, on .*: apt install g\+\+"):
        compiling.compile_extension(installed.read(package), tmp_path / "library.so")


def compiler(folder, script):
    path = folder / "compiler"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_a_compiler_that_fails(package, tmp_path, monkeypatch):
    monkeypatch.setenv("CXX", str(compiler(tmp_path, "echo 'In file x.hpp:'; echo 'x.cpp:3:1: error: no type T'; exit 1")))
    with pytest.raises(
        ImportError,
        match=r"compiler cannot compile the OpenVINO extension: x\.cpp:3:1: error: no type T \(let CXX name another",
    ):
        compiling.compile_extension(installed.read(package), tmp_path / "library.so")


def test_the_compiler_is_told_what_the_openvino_at_hand_needs(package, tmp_path, monkeypatch):
    script = compiler(tmp_path, f'echo "$@" >>"{tmp_path}/log"')
    monkeypatch.setenv("CXX", f"{script} -O1")
    compiling.compile_extension(installed.read(package), tmp_path / "library.so")
    (line,) = (tmp_path / "log").read_text().splitlines()
    assert line.startswith("-O1 ")
    assert "-D_GLIBCXX_USE_CXX11_ABI=0" in line
    assert all(str(package / "libs" / library) in line for library in LIBRARIES)
    assert str(installed.kernel()) in line


@pytest.mark.parametrize("place", ["", "ov-gather", "release", "library"])
def test_what_others_can_write_to_is_not_loaded(openvino, tmp_path, place):
    library = cache.library(openvino)
    release = library.parents[1]
    places = {"": tmp_path / "caches", "ov-gather": release.parent, "release": release, "library": library}
    before = places[place].stat().st_mode
    places[place].chmod(0o777)
    with pytest.raises(PermissionError, match=r"other users can write to .* \(mode 0777\): .* let XDG_CACHE_HOME name"):
        cache.library(openvino)
    places[place].chmod(before)
    assert cache.library(openvino) == library
    assert library.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("origin", "what"),
    [
        (None, "--force-reinstall --no-cache-dir --no-deps ov-gather"),
        ('{"url": "file:///a%20b/x.whl", "archive_info": {}}', "--force-reinstall --no-cache-dir --no-deps ov-gather"),
        ('{"url": "file:///a%20b", "dir_info": {}}', "--force-reinstall --no-cache-dir --no-deps '/a b'"),
        ('{"url": "file:///a%20b", "dir_info": {"editable": true}}', "-e '/a b'"),
    ],
)
def test_the_kernel_is_built_again_from_where_the_package_was_installed(monkeypatch, origin, what):
    monkeypatch.setattr(metadata, "distribution", lambda name: SimpleNamespace(read_text=lambda file: origin))
    assert installed.reinstall() == f"pip install -v {what}"
