"""`leocod test-strategy`: does a strategy of your own hold to the rules?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from leocod.cli.options import Override
from leocod.cli.terminal import console, say
from leocod.text import pluralize

if TYPE_CHECKING:
    from leocod.conformance.rules import Trial, Verdict


def check_strategy(
    name: Annotated[str, typer.Argument(metavar="NAME|MODULE:CLASS", help="The strategy, as --strategy takes it.")],
    overrides: Override = None,
) -> None:
    """Try a strategy on every rule that strategies must hold to, bare and inside Efficient-CLS.

    --set takes options of the strategy, such as memory_per_class=10. The exit code is 1 if a rule is broken.
    """
    from functools import reduce

    from leocod.conformance.rules import Trial
    from leocod.run.choices import validate
    from leocod.run.layers import overlay, parse_override
    from leocod.strategies.base import STRATEGIES

    kind = STRATEGIES.find(name)
    options: dict[str, Any] = reduce(overlay, map(parse_override, overrides or ()), {})
    validate(kind.Options, options, "strategy")
    broken = tried = 0
    for wrapped in (False, True):
        say(f"{name}, {'inside Efficient-CLS' if wrapped else 'bare'}")
        verdicts = _try_rules(Trial(kind, wrapped, options))
        tried, broken = tried + len(verdicts), broken + sum(verdict.problem is not None for verdict in verdicts)
    say(f"{pluralize(tried, 'rule')}: all hold." if not broken else f"{broken} of {pluralize(tried, 'rule')} broken.")
    if broken:
        raise typer.Exit(1)


def _try_rules(trial: Trial) -> list[Verdict]:
    from leocod.conformance.rules import check_rules
    from leocod.conformance.strategies import RULES

    verdicts = []
    for verdict in check_rules(RULES, trial):
        console.print("  [green]pass[/green]  " if verdict.problem is None else "  [red]FAIL[/red]  ", end="")
        say(verdict.rule.name)
        if verdict.problem is not None:
            say(f"        {verdict.problem}")
        verdicts.append(verdict)
    return verdicts
