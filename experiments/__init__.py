"""Experiments that compare bayesmend with its peers and with published results."""
