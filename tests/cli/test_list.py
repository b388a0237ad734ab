from typer.testing import CliRunner

from leocod.cli.main import app


def test_the_list_has_names_meanings_and_options() -> None:
    text = CliRunner(env={"COLUMNS": "200", "TERM": "dumb"}).invoke(app, ["list"]).output

    for word in (
        "wander",
        "tiny",
        "icarl",
        "incremental",
        "offline",
        "efficient_cls",
        "memory_per_class",
        "keep",
        "nested",
        "presence",
        "random",
        "tensorboard",
        "fifo",
        "bwt",
        "bad_steps",
        "frames_at_once",
    ):
        assert word in text
