"""Dumps: written by the program, read with NumPy alone, as items and batches of torch's DataLoader."""
