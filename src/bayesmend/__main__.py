"""Entry of the command line: ``bayesmend`` and ``python -m bayesmend``."""

import sys

from bayesmend._interrupts import ignored_from_here

__all__ = ["main"]


def main() -> None:
    """Run the command line; without its packages, say how to install them."""
    try:
        from bayesmend.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("bayesmend"):
            raise
        sys.exit(
            f"Error: the command line needs the package '{error.name}'. "
            "Install it: pip install 'bayesmend[cli]'"
        )
    try:
        app(prog_name="bayesmend")
    finally:
        ignored_from_here()


if __name__ == "__main__":
    main()
