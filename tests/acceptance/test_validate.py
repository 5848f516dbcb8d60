"""`ov-gather validate`, as a user runs it."""


def test_invalid_samples(cli, samples):
    done = cli("validate", "ir_samples/invalid", "--infer", "--target", "2024.6", code=1)
    for path in (samples / "invalid").glob("*/*.xml"):
        place = f"ir_samples/invalid/{path.parent.name}/{path.name}:"
        found = [line for line in done.stdout.splitlines() if line.startswith(place)]
        assert any(f" {path.parent.name}: " in line for line in found), place
    assert done.stderr == ""


def test_help_of_every_command(real_cli):
    overview = real_cli("--help")
    assert overview.returncode == 0
    for name in ("check", "validate", "explain", "run", "convert", "bench"):
        assert name in overview.stdout
        done = real_cli(name, "--help", code=0)
        assert "Exit code: 0" in done.stdout
    real_cli("nonsense", code=2)
