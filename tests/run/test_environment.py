import json
import subprocess
from pathlib import Path

import pytest

import leocod
from leocod.run.environment import add_resumption, describe_environment, read_command_line, read_source_state


def test_it_names_versions_machine_and_command() -> None:
    about = describe_environment(threads=2, device="cpu", command=["leocod", "run"])

    assert about["leocod"] == leocod.__version__
    assert {"python", "torch", "torchvision", "numpy", "platform", "cpus", "source", "started"} <= set(about)
    assert about["threads"] == 2
    assert about["command"] == ["leocod", "run"]
    assert json.loads(json.dumps(about)) == about


def test_the_command_has_no_directory_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["/somewhere/bin/leocod", "run", "--seed", "1"])
    assert read_command_line() == ["leocod", "run", "--seed", "1"]

    monkeypatch.setattr("sys.argv", ["/somewhere/leocod/__main__.py", "list"])
    assert read_command_line() == ["leocod", "list"]


def test_only_a_checkout_of_this_code_has_a_state(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], check=True, capture_output=True)

    git("init")
    (tmp_path / "__init__.py").touch()
    assert read_source_state(tmp_path) is None, "an untracked file belongs to somebody else's checkout"

    git("add", "__init__.py")
    git("commit", "-m", "Begin")
    state = read_source_state(tmp_path)
    assert state is not None
    assert len(state["commit"]) == 40
    assert state["changed"] is False

    (tmp_path / "__init__.py").write_text("changed = True\n")
    assert (read_source_state(tmp_path) or {})["changed"] is True


def test_a_run_that_goes_on_adds_an_entry_and_tells_what_has_changed(tmp_path: Path) -> None:
    now = describe_environment(threads=1, device="cpu", command=["leocod", "run"])
    file = tmp_path / "environment.json"
    file.write_text(json.dumps({**now, "torch": "1.0", "started": "long ago"}))

    content, changed = add_resumption(file, 7, now)
    file.write_text(json.dumps(content))
    again, unchanged = add_resumption(file, 9, now)

    assert changed == [f"torch was 1.0 and is {now['torch']}"]
    assert unchanged == []
    assert (again["torch"], again["started"]) == ("1.0", "long ago")
    assert [one["from_step"] for one in again["resumed"]] == [7, 9]


@pytest.mark.parametrize("text", [None, "", "[", "[]", "3"])
def test_a_run_goes_on_without_a_readable_account_of_what_it_began_with(text: str | None, tmp_path: Path) -> None:
    now = describe_environment(threads=1, device="cpu", command=["leocod", "run"])
    file = tmp_path / "environment.json"
    if text is not None:
        file.write_text(text)

    content, _ = add_resumption(file, 7, now)

    assert [one["from_step"] for one in content["resumed"]] == [7]
