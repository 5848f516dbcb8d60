"""Semantic comparison of two models: structure, attributes, types, shapes and constants."""
