"""Generated inputs for models: one index-bounds algorithm, with an adapter per kind of model."""
