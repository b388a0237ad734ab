"""How often intervals contain the true mean, and how wide they are: by a comparison alone, and with all of its table.

    .venv/bin/python bench/intervals.py

Tables are drawn in which no row is better than another: figures of rows x runs x classes, with an effect of the seed on
all rows, of the class on all rows, of the seed on each row, of the class on each row, and a rest. Each row is compared
with the first one.
"""

from __future__ import annotations

import numpy as np
from harness import arguments, record, table
from numpy.typing import NDArray

from leocod.evaluation.intervals import Error, measure_crossed, pool_pairs

CLASSES = 14
KINDS = {
    "seeds matter little": (lambda rows: np.full(rows, 0.5), 1.0, 2.0),
    "seeds matter much": (lambda rows: np.full(rows, 1.0), 0.5, 1.0),
    "rows differ from 0.5 to 2": (lambda rows: np.linspace(0.5, 2, rows), 1.0, 2.0),
    "one row of 3, the others 0.7": (lambda rows: np.r_[np.full(rows - 1, 0.7), 3.0], 1.0, 2.0),
    "seeds do not matter": (np.zeros, 1.0, 2.0),
}
"""What a seed adds to each row, and what a class and the rest add, as standard deviations in points."""

SIDES = ("alone", "with all")


def draw(generator: np.random.Generator, kind: str, rows: int, runs: int) -> NDArray[np.float64]:
    """The figures of a table: rows x runs x classes."""
    by_row, of_class, of_rest = KINDS[kind]
    return (
        generator.normal(0, 3, (1, runs, 1))
        + generator.normal(0, 10, (1, 1, CLASSES))
        + by_row(rows)[:, None, None] * generator.normal(0, 1, (rows, runs, 1))
        + generator.normal(0, of_class, (rows, 1, CLASSES))
        + generator.normal(0, of_rest, (rows, runs, CLASSES))
    )


def compare(figures: NDArray[np.float64]) -> list[tuple[float, Error, Error]]:
    """Each row with the first one: the mean difference, and its error in both ways."""
    differences = figures[1:] - figures[0]
    pooled = pool_pairs(differences.mean(axis=2), rows=len(figures))
    return [(float(one.mean()), measure_crossed(one), measure_crossed(one, pooled)) for one in differences]


def main() -> None:
    """Every kind of table, of two sizes, with two, three and five runs."""
    options = arguments(__doc__, draws=300, seed=0)
    generator, lines, cases, ratios = np.random.default_rng(options.seed), [], [], []
    for runs in (2, 3, 5):
        for rows in (6, 16):
            for kind in KINDS:
                found = [compare(draw(generator, kind, rows, runs)) for _ in range(options.draws)]
                reach = np.array([[[e.surround(0.0).high for e in errors] for _, *errors in one] for one in found])
                means = np.array([[mean for mean, *_ in one] for one in found])
                inside = (np.abs(means)[:, :, None] < reach).mean(axis=0)
                widths = np.median(reach, axis=(0, 1))
                ratios.append(float(widths[1] / widths[0]))
                case = {"kind": kind, "rows": rows, "runs": runs, "width, with all / alone": ratios[-1]}
                for number, side in enumerate(SIDES):
                    share = inside[:, number]
                    case[side] = {
                        "inside": float(share.mean()),
                        "inside, worst row": float(share.min()),
                        "half a width": float(widths[number]),
                    }
                cases.append(case)
                told = [f"{100 * inside[:, n].mean():.1f} ({100 * inside[:, n].min():.1f})" for n in range(2)]
                lines.append([kind, rows, runs, *told, *(f"{width:.2f}" for width in widths)])
    heads = ["", "rows", "runs", *(f"% inside, {side} (worst row)" for side in SIDES), *(f"± {side}" for side in SIDES)]
    print(table(heads, lines))
    print(f"\nwidth with all / alone: {min(ratios):.2f} to {max(ratios):.2f}")
    record(options, {"draws": options.draws, "seed": options.seed, "classes": CLASSES, "cases": cases})


if __name__ == "__main__":
    main()
