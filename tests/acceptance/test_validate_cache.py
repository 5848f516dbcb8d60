"""`ov-gather validate --cache`: unchanged files are not checked again, and nothing else is taken for unchanged."""

import os

import pytest

from ov_gather import validate as validate_in_python

FOUND = ("invalid/OVG601/too_large", "invalid/OVG204/axis_3", "divergent/negative-indices/onnx_page_3", "valid/spec_layer")


@pytest.fixture
def zoo(copied, tmp_path):
    """Some models, two of them with constant indices in a .bin."""
    (tmp_path / "models").mkdir()
    for name in FOUND:
        copied(name, tmp_path / "models")
    return tmp_path


@pytest.fixture
def validate(cli, zoo):
    """A function that validates the models with a cache, and returns the findings as text, and how many files it knew."""

    def run(*options):
        done = cli("validate", "models", "--cache", "cache", "--format", "concise", *options, cwd=zoo)
        findings, _, unchanged = done.stdout.rstrip("\n").rpartition(", unchanged: ")
        return findings, int(unchanged), done.returncode

    return run


@pytest.mark.sampled(1)
@pytest.mark.parametrize("jobs", [(), ("--jobs", "2")])
def test_unchanged_files_are_known(validate, zoo, jobs):
    first = validate(*jobs)
    assert first[1:] == (0, 1)
    for path in (zoo / "models").iterdir():
        os.utime(path, (1, 1))
    assert validate(*jobs) == (first[0], len(FOUND), 1)
    assert sorted(path.name for path in (zoo / "cache").iterdir() if path.suffix != ".json") == [".gitignore", "CACHEDIR.TAG"]


def test_a_changed_xml_is_checked_again(validate, zoo):
    validate()
    path = zoo / "models" / "spec_layer.xml"
    path.write_text(path.read_text().replace('axis="1"', 'axis="7"'))
    findings, unchanged, _ = validate()
    assert unchanged == len(FOUND) - 1
    assert "spec_layer.xml" in findings
    assert validate() == (findings, len(FOUND), 1)


def test_a_changed_index_in_the_bin_is_found(validate, zoo):
    before = validate()[0]
    path = zoo / "models" / "too_large.bin"
    content = bytearray(path.read_bytes())
    (mended,) = {finding.message for finding in validate_in_python(path.with_suffix(".xml"))}
    assert "out of bounds" in mended
    path.write_bytes(bytes(len(content)))
    findings, unchanged, _ = validate()
    assert unchanged == len(FOUND) - 1
    assert "OVG601" in before
    assert "OVG601" not in findings


@pytest.mark.parametrize("change", [lambda path: path.unlink(), lambda path: path.write_bytes(path.read_bytes()[:-1])])
def test_a_bin_that_is_gone_or_cut_is_found(validate, zoo, change):
    validate()
    change(zoo / "models" / "too_large.bin")
    findings, unchanged, code = validate()
    assert (unchanged, code) == (len(FOUND) - 1, 1)
    assert "OVG50" in findings


def test_other_options_are_another_entry(validate):
    validate()
    assert validate("--select", "OVG6")[1] == 0
    assert validate("--target", "2025.4")[1] == 0
    assert validate("--select", "OVG6")[1] == len(FOUND)
    assert validate()[1] == len(FOUND)


def test_damaged_entries_are_no_entries(validate, zoo):
    first = validate()[0]
    for damage in (b"", b"{", b"{}", b"[1]", b'{"xml": 1}'):
        for entry in (zoo / "cache").glob("*.json"):
            entry.write_bytes(damage)
        assert validate()[:2] == (first, 0)
    assert validate()[:2] == (first, len(FOUND))


def test_a_place_that_cannot_hold_a_cache(refusal, zoo):
    (zoo / "cache").write_text("a file")
    assert "cache" in refusal("validate", "models", "--cache", "cache", cwd=zoo)


def test_a_cache_in_what_is_checked_is_not_used(cli, zoo):
    """Whoever wrote the models could have committed the entries."""
    for cache in ("models/.cache", ".cache"):
        (zoo / ".git").mkdir(exist_ok=True)
        for _ in range(2):
            done = cli("validate", "models", "--format", "concise", "--cache", cache, cwd=zoo)
            assert "unchanged" not in done.stdout
            assert f"--cache {cache} is not used: it lies in {zoo}" in done.stderr
            assert not (zoo / cache).exists()


def test_the_cache_of_the_user(real_cli, zoo):
    environment = os.environ | {"XDG_CACHE_HOME": str(zoo / "caches")}
    for unchanged in (0, len(FOUND)):
        done = real_cli("validate", "models", "--cache", "user", cwd=zoo, env=environment)
        assert f"unchanged: {unchanged}" in done.stdout
    (kept,) = (zoo / "caches" / "ov-gather").iterdir()
    assert (kept.name, kept.stat().st_mode & 0o777) == ("validate", 0o700)


def test_a_cache_that_others_can_write_to_is_not_used(validate, cli, zoo):
    validate()
    (zoo / "cache").chmod(0o777)
    done = cli("validate", "models", "--format", "concise", "--cache", "cache", cwd=zoo)
    assert "unchanged" not in done.stdout
    assert "--cache is not used: other users can write to" in done.stderr
    (zoo / "cache").chmod(0o700)
    for entry in (zoo / "cache").glob("*.json"):
        entry.chmod(0o666)
    assert validate()[1] == 0


def test_entries_of_other_rules_are_no_entries(zoo, monkeypatch):
    from ov_gather.rules import cache
    from ov_gather.rules.selection import Chosen
    from ov_gather.workers.validation import ValidateOptions

    path, checks = zoo / "models" / "too_large.xml", ValidateOptions(Chosen(), cache=cache.Cache(zoo / "cache"))

    def is_known():
        ((_, (_, known)),) = checks.run([path], 1, None)
        return known

    assert [is_known() for _ in range(2)] == [False, True]
    monkeypatch.setattr(cache, "_rules", lambda: "of another commit")
    assert not is_known()
