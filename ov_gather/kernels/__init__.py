"""The array functions that users call, the loader of the compiled kernel, and the NumPy reference."""
