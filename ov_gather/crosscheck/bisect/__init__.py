"""Two models are compared value by value, until the first node is found at which they part."""
