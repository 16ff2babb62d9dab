"""`python -m relay` and the `roma` command."""

from relay.cli import app


def main() -> None:
    app(prog_name="roma")


if __name__ == "__main__":
    main()
