"""The operating system, the terminal and optional packages: files, signals, logging, tables, lazy imports."""
