"""Attacks on bayesmend by many small inputs, each made of a seed and a number."""
