"""Inputs that are made up for whole models."""
