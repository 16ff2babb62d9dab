"""`python -m relay` and the `roma` command."""

from relay.cli import app


def main() -> None:
    """Run the command line, which names itself `roma` however it was started."""
    app(prog_name="roma")


if __name__ == "__main__":
    main()
