"""Probes of a library with an operation of users: what it does wrong, each with a plain name."""
