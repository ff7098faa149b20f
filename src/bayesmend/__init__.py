"""Learn discrete Bayesian networks from categorical data with missing values."""

__version__ = "0.1.0"
__all__ = ["__version__"]
