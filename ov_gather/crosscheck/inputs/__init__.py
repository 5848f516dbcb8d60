"""Inputs that are made up for models."""
