"""The abstract domain of the analysis: polynomials of sizes, intervals bounded by them, and abstract tensors."""
