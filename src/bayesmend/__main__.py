"""Entry of the command line: ``bayesmend`` and ``python -m bayesmend``."""

import sys

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
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)
    app(prog_name="bayesmend")


if __name__ == "__main__":
    main()
