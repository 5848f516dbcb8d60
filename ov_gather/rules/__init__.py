"""One rule = one place: id, severity, documentation, check. Rules read what operations specify and do not repeat it."""
