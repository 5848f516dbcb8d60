"""One module per public door of ov-gather, each with a seeded attack and an independent oracle.

A module defines `TRIALS`, the number of seeds that pytest tries; `SECONDS`, the limit for one of them; and
`attack(rng, folder)`, which makes a hostile input from the generator, works in an empty folder and raises AssertionError if
the door gives way. A crash or a timeout of the process that attacks is a finding, too.
"""
