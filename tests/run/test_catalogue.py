import pytest

from leocod import ICaRL, Settings
from leocod.run.catalogue import find_elsewhere, list_options, list_sections
from leocod.run.choices import CHOICES


class Inner(Settings):
    size: int = 3
    """How large."""


class Outer(Settings):
    name: str
    """Which one, on
    two lines."""
    inner: Inner = Inner()
    limit: int | None = None


def test_inner_options_stand_under_their_whole_key() -> None:
    options = {option.key: option for option in list_options(Outer)}

    assert list(options) == ["name", "inner.size", "limit"]
    assert options["name"].default == "(needed)"
    assert options["name"].meaning == "Which one, on two lines."
    assert options["inner.size"].default == "3"
    assert options["limit"].default == "null"


def test_every_part_of_every_kind_is_listed_with_its_options() -> None:
    sections = {section.title: section for section in list_sections()}

    for choice in CHOICES.values():
        listed = sections[choice.kind.package.rpartition(".")[2]].parts
        assert [part.name for part in listed] == choice.kind.names()
        assert all(part.summary for part in listed)
    (icarl,) = (part for part in sections["strategies"].parts if part.name == "icarl")
    assert {option.key for option in icarl.options} >= ICaRL.Options.model_fields.keys()


def test_the_options_of_the_run_leave_out_those_of_its_parts() -> None:
    ((run,),) = (section.parts for section in list_sections() if section.title == "the run")

    keys = [option.key for option in run.options]
    assert "seed" in keys
    assert not {key.split(".")[0] for key in keys} & {*CHOICES, "sinks", "efficient_cls"}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("leocod.strategies.icarl:ICaRL", "strategy"),
        ("leocod.memory.replacements.fifo:FIFO", "memory replacement"),
        ("leocod.plugins.pseudo_labellers.slow:Slow", "pseudo-labeller"),
    ],
)
def test_a_part_from_elsewhere_is_found_under_its_kind(name: str, kind: str) -> None:
    assert find_elsewhere(name).title == kind
