"""Seeded attacks, with independent oracles: one module per public door of ov-gather.

A module defines `TRIALS`, the number of seeds that pytest tries; `SECONDS`, the limit for each of them; and `attack(rng,
folder)`, which attacks the door from an empty folder and raises AssertionError if it succeeds. A crash or timeout of the
process is a finding, too.
"""
