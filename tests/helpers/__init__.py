"""What several tests and tools share. `tests/` is on pytest's path, so tests import `helpers.NAME`."""
