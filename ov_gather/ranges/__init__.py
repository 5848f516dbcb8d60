"""Range analysis: bounds of the values in a model that hold for all of its inputs."""
