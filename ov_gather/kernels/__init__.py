"""This room computes operations: with the compiled kernel, with the NumPy reference, and with functions that choose."""
