"""Known faults of OpenVINO that a model meets by its structure: one entry of data and one predicate a fault."""
