"""This module tells what validation checks. One rule is one function, which has an id, a severity, documentation and a line in
register.py.
"""
