"""The inputs that one layer is executed with: designed for it, or swept over made-up layers."""
