"""This module tells how a bisection is reported."""
