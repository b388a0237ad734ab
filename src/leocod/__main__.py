"""`python -m leocod` is `leocod`."""

from leocod.cli import app

if __name__ == "__main__":
    app()
