"""`python -m pysaccade.mcp`: a server of the Model Context Protocol that gives an agent an eye. It only looks."""
