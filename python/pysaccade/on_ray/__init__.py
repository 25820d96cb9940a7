"""Many videos on Ray: a store's units as tasks, and a stage of Ray Data."""
