"""The code that computes an operation: the compiled kernel, the NumPy reference, and the functions that choose."""
