from pathlib import Path

import pytest

from leocod.errors import InvalidConfig
from leocod.run.config import load_config
from leocod.run.config_file import list_shipped_configs, read_config_file


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without a checkout, where a user of the wheel is."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", list_shipped_configs())
def test_every_shipped_config_is_found_by_its_name_and_can_be_followed(name: str) -> None:
    assert load_config(Path(name)).to_yaml()


def test_the_place_that_earlier_versions_had_still_works() -> None:
    assert read_config_file(Path("configs/oak.yaml")) == read_config_file(Path("oak.yaml"))


def test_a_file_of_ones_own_wins(elsewhere: Path) -> None:
    (elsewhere / "oak.yaml").write_text("seed: 3\n")

    assert read_config_file(Path("oak.yaml")) == {"seed": 3}


def test_an_unknown_name_is_told_which_there_are() -> None:
    with pytest.raises(InvalidConfig, match=r"No config file 'standard'\. With leocod come: egoobjects\.yaml, .*oak"):
        read_config_file(Path("standard"))


def test_another_folder_is_never_taken_for_ours(elsewhere: Path) -> None:
    for file in (elsewhere / "oak.yaml", Path("mine/oak.yaml")):
        with pytest.raises(InvalidConfig, match=r"No config file '.*oak\.yaml'\.$"):
            read_config_file(file)
