"""Tensor operations as the library and torch know them, and the checks that every one makes of its arguments."""
