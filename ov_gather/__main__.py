"""`python -m ov_gather`, the same as `ov-gather`."""

from ov_gather.cli import main

if __name__ == "__main__":
    main()
