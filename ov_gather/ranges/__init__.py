"""One analysis of ranges: between which bounds the values of a model lie, whatever its inputs are."""
