"""Benchmarks of our kernel and its peers on the same work, in one run."""
