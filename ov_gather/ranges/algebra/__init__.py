"""The algebra of ranges: polynomials of sizes, intervals between them, and what is known of a tensor."""
