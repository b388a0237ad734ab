from collections.abc import Callable

from typer.testing import Result


def test_the_list_has_names_and_how_to_choose_them_and_no_options(leocod: Callable[..., Result]) -> None:
    text = leocod("list").output

    for word in (
        *("wander", "tiny", "icarl", "incremental", "offline", "efficient_cls", "random", "tensorboard", "fifo", "bwt"),
        *("--strategy NAME", "--set labels.name=NAME", "leocod list NAME"),
    ):
        assert word in text
    for word in ("memory_per_class", "keep", "nested", "bad_steps"):
        assert word not in text
    assert len(text.splitlines()) < 30


def test_one_name_is_explained_with_its_options(leocod: Callable[..., Result]) -> None:
    text = leocod("list", "icarl").output

    assert "memory_per_class" in text
    assert "--strategy NAME" in text
    assert "incremental" not in text


def test_a_name_that_several_things_have_explains_each(leocod: Callable[..., Result]) -> None:
    text = leocod("list", "random").output

    assert "labels.name=NAME" in text
    assert "strategy.memory_store=NAME" in text


def test_a_group_and_the_run_and_everything_can_be_asked_for(leocod: Callable[..., Result]) -> None:
    assert "boundary_every" in leocod("list", "strategies").output
    assert "bad_steps" in leocod("list", "run").output
    everything = leocod("list", "all").output
    for word in ("memory_per_class", "keep", "nested", "presence", "bad_steps", "frames_at_once", "fifo", "bwt"):
        assert word in everything


def test_an_unknown_name_gets_the_nearest(refused: Callable[..., str]) -> None:
    assert "No name 'icral'. Did you mean 'icarl'?" in refused("list", "icral")


def test_a_part_of_ones_own_is_explained_and_said_what_it_is(
    leocod: Callable[..., Result], refused: Callable[..., str]
) -> None:
    text = leocod("list", "leocod.strategies.icarl:ICaRL").output

    assert text.split()[0] == "strategy"
    assert "memory_per_class" in text
    assert "No module 'nowhere'" in refused("list", "nowhere:Mine")
