"""Two models are compared here by what they compute: their structure, attributes, types, shapes and constants."""
