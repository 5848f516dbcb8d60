"""This module tells what `ov-gather prove` prints. One file is one format, with a function `render` from a Report: to text for
programs, to tables and lines for people.
"""
