"""Models as one read-only graph, whatever they were read from."""
