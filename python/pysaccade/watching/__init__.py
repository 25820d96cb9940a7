"""A gate in front of a model: views of what is new, sent when something appeared, within a budget of tokens."""
