"""Default seed and numbers of cases, apart from the code that makes cases: --help shows them without NumPy."""

DEFAULT_SEED = 2026
DEFAULT_CASES = 16
"""Cases for each layer of a model."""
DEFAULT_SWEEP = 10_000
"""Cases of all generated layers."""
