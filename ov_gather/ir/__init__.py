"""The IR document as data: reading, model, writing. Nothing here depends on operations or rules."""
