"""Guards: checks of requests, made from the conditions that `prove` finds, as a callable and as files."""
