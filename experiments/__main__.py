"""Entry of the command line: ``python -m experiments``."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command; without its packages, say how to install them."""
    try:
        from experiments.command import app
    except ModuleNotFoundError as error:
        if (error.name or "").startswith(("bayesmend", "experiments")):
            raise
        sys.exit(
            f"Error: the experiments need the package '{error.name}'. "
            "Install what they need: pip install --group experiments"
        )
    app(prog_name="python -m experiments")


# Worker processes import this module, too.
if __name__ == "__main__":
    main()
