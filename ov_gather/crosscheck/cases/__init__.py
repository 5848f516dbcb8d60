"""Inputs for executing one layer: cases designed for a given layer, and sweeps over generated layers."""
