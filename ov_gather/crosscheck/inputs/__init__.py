"""Inputs that are made up for models: one algorithm, and an adapter for each kind of model."""
