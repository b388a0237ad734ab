from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from leocod.conformance import strategies

STRATEGY = """
from leocod import ReplayStrategy

class Keeps(ReplayStrategy):
    def remember(self, step):
        self.memory.add(step.labelled())

class Hoards(ReplayStrategy):
    def learn(self, step):
        learned = super().learn(step)
        self.memory.add(step.labelled())
        return learned
"""


@pytest.fixture
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module with strategies of one's own; of the rules only one is tried, because the others take their time."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(strategies, "RULES", [rule for rule in strategies.RULES if "memory" in rule.name][-1:])
    (tmp_path / "hoarding.py").write_text(STRATEGY)
    return "hoarding"


def test_a_strategy_that_holds_to_the_rules_passes_bare_and_wrapped(
    leocod: Callable[..., Result], own_module: str
) -> None:
    result = leocod("test-strategy", f"{own_module}:Keeps", "--set", "memory_per_class=3")

    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "hoarding:Keeps, bare",
        "  pass  keeps pseudo labels out of its memory",
        "hoarding:Keeps, inside Efficient-CLS",
        "  pass  keeps pseudo labels out of its memory",
        "2 rules: all hold.",
    ]


def test_a_rule_that_is_broken_is_named_with_the_cure_and_the_exit_code_says_so(
    leocod: Callable[..., Result], own_module: str
) -> None:
    result = leocod("test-strategy", f"{own_module}:Hoards")

    assert result.exit_code == 1
    assert result.output.splitlines()[3:] == [
        "  FAIL  keeps pseudo labels out of its memory",
        '        Frame 1 has pseudo labels: only a person\'s are remembered. Add step.labelled("human") to the memory, '
        "and not step.labelled().",
        "1 of 2 rules broken.",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("icral",), "No strategy 'icral'. Did you mean 'icarl'?"),
        (("icarl", "--set", "memory_per_clas=3"), "strategy.memory_per_clas: unknown key. Did you mean"),
    ],
)
def test_bad_input_is_one_clear_line(arguments: tuple[str, ...], message: str, refused: Callable[..., str]) -> None:
    assert message in refused("test-strategy", *arguments)
