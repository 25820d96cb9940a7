"""Emissions, plans and dumps as pictures, in notebooks, in files and in OpenGL."""
