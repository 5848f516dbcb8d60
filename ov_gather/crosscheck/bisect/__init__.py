"""Bisection: compare two models value by value, down to the first node at which they differ."""
