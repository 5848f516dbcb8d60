"""Only what nobody else can write to is believed: directories, what is above them, and files."""

import os
import subprocess
import sys
from itertools import takewhile
from pathlib import Path
from tempfile import gettempdir

import pytest

from ov_gather.system.private import NotPrivateError, checked, make_private, read_private

STRANGER = 4242
root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077])
def test_what_we_make_is_private_whatever_the_umask(tmp_path, umask):
    before = os.umask(umask)
    try:
        made = make_private(tmp_path / "caches" / "ours" / "inner")
    finally:
        os.umask(before)
    assert made == (tmp_path / "caches" / "ours" / "inner").resolve()
    assert {path.stat().st_mode & 0o777 for path in (made, *made.parents[:2])} == {0o700}


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o707, 0o1777])
def test_a_directory_that_others_can_write_to(tmp_path, mode):
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours").chmod(mode)
    with pytest.raises(NotPrivateError, match=r"other users can write to .*ours \(mode .*\): .*XDG_CACHE_HOME"):
        make_private(tmp_path / "ours")


@root
def test_a_directory_of_another_user(tmp_path):
    (tmp_path / "ours").mkdir(mode=0o700)
    os.chown(tmp_path / "ours", STRANGER, -1)
    with pytest.raises(NotPrivateError, match=r"belongs to another user \(uid 4242\), .*XDG_CACHE_HOME"):
        make_private(tmp_path / "ours")


@root
@pytest.mark.parametrize(("mode", "owner", "group"), [(0o777, 0, 0), (0o770, 0, STRANGER), (0o700, STRANGER, 0)])
def test_what_is_above_could_be_replaced(tmp_path, mode, owner, group):
    inner = make_private(tmp_path / "above" / "ours")
    inner.parent.chmod(mode)
    os.chown(inner.parent, owner, group)
    with pytest.raises(NotPrivateError, match="above"):
        checked(inner)


def test_a_sticky_directory_above_is_none_that_others_replace(tmp_path):
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp").chmod(0o1777)
    assert checked(make_private(tmp_path / "tmp" / "ours")).name == "ours"


@root
def test_a_link_of_another_user(tmp_path):
    (tmp_path / "ours").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("ours")
    assert checked(tmp_path / "link").name == "ours"
    os.lchown(tmp_path / "link", STRANGER, -1)
    with pytest.raises(NotPrivateError, match="link belongs to another user"):
        checked(tmp_path / "link")


@root
def test_another_user_reads_what_root_made(tmp_path):
    """A cache that root prepares in an image serves all; one of a third user serves none."""
    code = (
        "from pathlib import Path; from ov_gather.system.private import checked\n"
        "import os, sys; os.setgroups([]); os.setgid(4243); os.setuid(4243)\n"
        "print(checked(Path(sys.argv[1])))"
    )
    folder = tmp_path / "shared"
    folder.mkdir()
    ours = takewhile(lambda place: place != Path(gettempdir()), tmp_path.parents)  # also those of pytest-xdist
    for place in (folder, tmp_path, *ours):
        place.chmod(0o755)
    command = [sys.executable, "-c", code, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.strip() == str(folder), done.stderr
    os.chown(folder, STRANGER, -1)
    assert "belongs to another user" in subprocess.run(command, capture_output=True, text=True).stderr


def test_files(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"content")
    file.chmod(0o600)
    assert read_private(file) == b"content"
    (tmp_path / "link").symlink_to(file)
    with pytest.raises(OSError, match="link"):
        read_private(tmp_path / "link")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        read_private(tmp_path / "pipe")
    file.chmod(0o602)
    with pytest.raises(NotPrivateError, match="other users can write"):
        read_private(file)
