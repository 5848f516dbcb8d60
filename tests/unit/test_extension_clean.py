"""`ov-gather extension clean`: what it removes, what it leaves, and who may be using it meanwhile."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from ov_gather.extension import cache, installed, removal
from ov_gather.extension.installed import OpenVINO
from ov_gather.system.private import NotPrivateError

LIBRARY = b"a library"


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """A function that keeps the library for a release, which no compiler made."""

    def compile_extension(openvino, library):
        library.write_bytes(LIBRARY)

    monkeypatch.setattr(cache, "compile_extension", compile_extension)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    (tmp_path / "libs").mkdir()
    (tmp_path / "libs" / "libopenvino.so").write_text("not ours")
    return lambda release="2025.9.3": cache.library(OpenVINO(tmp_path, release, "1"))


def test_everything_of_ours_goes_and_is_counted(compiled, tmp_path):
    libraries = [compiled(release) for release in ("2025.9.3", "2025.9.4")]
    first, second = removal.remove_all()
    assert [removed.folder for removed in (first, second)] == [library.parents[1] for library in libraries]
    links = len(str(tmp_path / "libs")) + len(str(installed.compiled()))
    assert first.size == second.size == 2 * len(LIBRARY) + len(hashlib.sha256().hexdigest()) + links
    assert not first.kept
    assert list((tmp_path / "caches" / "ov-gather").iterdir()) == []
    assert (tmp_path / "libs" / "libopenvino.so").read_text() == "not ours"
    assert list(removal.remove_all()) == []
    assert compiled().read_bytes() == LIBRARY


def test_what_killed_processes_left_goes(compiled):
    folder = compiled().parents[1]
    for place in (folder, compiled().parent):
        (place / "tmpab12_xyz").mkdir()
        (place / "tmpab12_xyz" / compiled().name).write_text("half")
    (folder / f".{compiled().name}.sha256.abcdefgh").write_text("half")
    (removed,) = removal.remove_all()
    assert not removed.kept
    assert not folder.exists()


def test_what_is_not_ours_stays(compiled, tmp_path):
    library = compiled()
    caches, folder = library.parents[2], library.parents[1]
    others = [
        caches / "validate" / "results",
        caches / "openvino-2025.9.3-mine" / library.name,
        folder / "notes.txt",
        folder / "backup" / library.name,
        library.parent / "notes.txt",
    ]
    for other in others:
        other.parent.mkdir(exist_ok=True)
        other.write_text("mine")
    elsewhere = tmp_path / folder.name
    elsewhere.mkdir()
    (elsewhere / library.name).write_text("mine")
    (caches / folder.name.replace("2025", "2026")).symlink_to(elsewhere)
    (folder / "0123456789ab").symlink_to(elsewhere)
    (removed,) = removal.remove_all()
    assert {*removed.kept} == {folder / "0123456789ab", folder / "notes.txt", folder / "backup", library.parent / "notes.txt"}
    assert not library.exists()
    assert all(other.read_text() == "mine" for other in [*others, elsewhere / library.name])


def test_a_directory_that_others_can_write_to_is_refused(compiled):
    library = compiled()
    library.parents[2].chmod(0o777)
    with pytest.raises(NotPrivateError, match="other users can write"):
        list(removal.remove_all())
    assert library.exists()


def test_a_compilation_that_runs_finishes_first(compiled, monkeypatch):
    begun, goes_on = Event(), Event()

    def compile_extension(openvino, library):
        begun.set()
        assert goes_on.wait(20)
        library.write_bytes(LIBRARY)

    monkeypatch.setattr(cache, "compile_extension", compile_extension)
    with ThreadPoolExecutor(2) as pool:
        library = pool.submit(compiled)
        assert begun.wait(20)
        removed = pool.submit(lambda: list(removal.remove_all()))
        goes_on.set()
        assert isinstance(library.result(20), Path)
        assert [each.size > len(LIBRARY) for each in removed.result(20)] == [True]
    assert not library.result().exists()


def test_a_process_that_waits_for_the_lock_is_not_left_with_a_removed_one(compiled, monkeypatch):
    """The lock that it waits for is removed while another process holds it; it must lock the new file."""
    folder = compiled().parents[1]
    real, calls = cache.lock, []

    def lock(file):
        calls.append(file)
        if len(calls) == 1:  # removed between the opening and the locking of the file
            with cache.locked(folder):
                removal._remove_ours(folder, [])
        real(file)

    monkeypatch.setattr(cache, "lock", lock)
    with cache.locked(folder):
        assert (folder / cache.LOCK).exists()
    assert len(calls) == 3


def test_a_lock_that_is_a_link_leads_to_no_other_file(compiled, tmp_path):
    folder = compiled().parents[1]
    (tmp_path / "notes").write_text("mine")
    (folder / cache.LOCK).unlink()
    (folder / cache.LOCK).symlink_to(tmp_path / "notes")
    list(removal.remove_all())
    assert (tmp_path / "notes").read_text() == "mine"
