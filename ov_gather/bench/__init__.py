"""Our kernel beside its peers, on the same work, in one run."""
