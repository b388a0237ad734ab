"""Run directories that a stranger might send: `leocod report` refuses one in a line, or makes a sound page of it."""

from __future__ import annotations

import gzip
import json
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml
from odd_values import DEEP
from seeds import write_json, write_picture

from leocod.evaluation.metrics.base import compute_metrics, find_metrics, list_shipped
from leocod.report.history import read_errors, read_history
from leocod.report.report import write_report

CLASSES = ("mug", "<b>book</b>", "$5 note")
STEPS = 8
ELEMENTS = {
    "html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "h3", "p", "b", "div", "span", "br",
    "i", "section", "figure", "figcaption", "details", "summary", "pre", "table", "thead", "tbody", "tr", "th",
    "td", "svg", "g", "defs", "path", "use", "text", "rect", "image", "clippath", "ul", "li",
}  # fmt: skip
"""What a page is made of. A script, or anything else, can only have come out of a name."""


def write_runs(folder: Path) -> None:
    """A run with everything in it, one with the least, and one whose earlier events are packed away."""
    for name in ("whole", "least", "packed"):
        _write_run(folder / name / "run", whole=name != "least", packed=name == "packed")


def _write_run(run: Path, *, whole: bool, packed: bool) -> None:
    run.mkdir(parents=True)
    by_class = {CLASSES[1]: 30.0, CLASSES[2]: None}
    results: dict[str, Any] = {
        "benchmark": "wander", "detector": "tiny", "strategy": "icarl", "efficient_cls": True, "ema": True,
        "pseudo_labels": True, "labels_per_step": 2, "seed": 0, "steps": STEPS, "labelled_frames": 16, "seconds": 60.0,
    }  # fmt: skip
    if whole:
        results |= {"seconds_by_part": {"fast": 40.0, "slow": 20.0}, "memory_bytes": 1000, "diagnosis": None}
        results |= {"definitions": {"ap": "voc", "forgetting_bins": 3, "presence": "labelled"}, "labels_nested": True}
        words = {"label": "<i>Own</i>", "title": "{ap} & more", "direction": "lower", "unit": "steps"}
        results |= {"scores": {"fap": 20.0, "forgetting": -6.5, "own": None}, "metrics": {"own": words}}
        results |= {"start": {"ap": 5.0, "ap_by_class": {"mug": 5.0, **by_class}}}
        results |= {"pseudo_label_counts": {"frames": 14, "labels": 15, "right": 7, "objects": 28}}
        results["evaluations"] = [
            {"step": step, "ap": 20.0, "ap_by_class": {"mug": 10.0 + step, **by_class}} for step in range(1, STEPS, 2)
        ]
        _write_detections(run)
        write_json(
            run / "environment.json", {"command": ["leocod", "run"], "python": "3.11", "source": {"commit": "a"}}
        )
        held = {name: {"frames": 1, "seen": 3} for name in CLASSES}
        write_json(run / "memory.json", {"bytes": 1000, "frames": 3, "by_class": held})
        _write_samples(run / "samples")
    else:
        # As versions before there was a list of metrics wrote it.
        results |= {"fap": 20.0, "cap": 20.0, "forgetfulness": -6.5, "metrics": {"ap": "voc"}}
        results["evaluations"] = [
            {"step": step, "ap50": 20.0, "ap50_by_class": {"mug": 10.0 + step, **by_class}}
            for step in range(1, STEPS, 2)
        ]
    write_json(run / "results.json", results)
    config = {"seed": 0, "strategy": {"name": "icarl"}, "evaluate": {"ap": "voc", "every": 2}}
    (run / "config.yaml").write_text(yaml.safe_dump(config))
    lines = [json.dumps({"event": "RunStarted", "name": "run", "classes": CLASSES, "steps": STEPS, "first_step": 0})]
    audit = {"frames": 14, "labels": 15, "right": 7, "objects": 28} if whole else None
    for step in range(STEPS):
        shown = [step % len(CLASSES)]
        learned = {"event": "StepLearned", "step": step, "present": shown, "labelled": shown, "audit": audit}
        lines.append(json.dumps(learned))
        if step % 2:
            lines.append(json.dumps({"event": "Evaluated", "step": step, "ap_by_class": {}, "seconds": 1.0}))
    lines.append(json.dumps({"event": "Warned", "step": 3, "what": "<i>Away</i>"}))
    half = len(lines) // 2 if packed else 0
    (run / "events.jsonl").write_text("".join(f"{line}\n" for line in [*lines[: bool(half)], *lines[half:]]))
    if packed:
        (run / "events").mkdir()
        earlier = "".join(f"{line}\n" for line in lines[:half])
        (run / "events" / "until_00003.jsonl.gz").write_bytes(gzip.compress(earlier.encode(), mtime=0))


def _write_detections(run: Path) -> None:
    """Two test frames, what was found in them after each evaluation, and in two training frames before the step."""
    boxes = [{"image_id": n, "category_id": n, "bbox": [4.0 * n, 3.0, 10.0, 12.0]} for n in (1, 2)]
    categories = [{"id": number, "name": name} for number, name in enumerate(CLASSES, start=1)]
    write_json(run / "test.json", {"images": [{"id": 1}, {"id": 2}], "annotations": boxes, "categories": categories})
    found = [boxes[0] | {"score": 0.9}, boxes[0] | {"category_id": 3, "score": 0.5}]
    for step in range(1, STEPS, 2):
        write_json(run / "detections" / f"step_{step:05d}.json", found)
    tested = {"id": 7, "truth": [[1, 2, 9, 9, 0]], "boxes": [[1, 2, 9, 10, 0, 0.9]]}
    lines = [json.dumps({"step": step, "frames": [tested | {"id": step}]}) for step in (0, 1)]
    (run / "detections" / "prequential.jsonl").write_text("".join(f"{line}\n" for line in lines))


def _write_samples(folder: Path) -> None:
    samples = []
    for number, kind in enumerate(("test", "pseudo", "memory")):
        write_picture(folder / f"{kind}.png", number)
        boxes = [[1, 2, 9, 10, 0, 0.9], [3, 3, 8, 8, "mug", 0.4]]
        samples.append(
            {"kind": kind, "step": 3, "frame": 7, "file": f"{kind}.png", "truth": [[1, 2, 9, 9, 0]], "boxes": boxes}
        )
    write_json(folder / "samples.json", samples)


def report_acts(folder: Path) -> list[Any]:
    """What `leocod report` does, whose page has to be sound, whatever is in it; and what `leocod score` does."""
    runs = [run for run in sorted(folder.iterdir()) if run.is_dir()]
    return [partial(act, run, folder) for run in runs for act in (_report, _score)]


def _report(run: Path, folder: Path) -> None:
    page = write_report([run], folder / "page.html").read_text(encoding="utf-8")
    assert len(page) < 100 * DEEP + 4_000_000, f"a page of {len(page)} characters"
    elements = _Elements()
    elements.feed(page)
    assert not elements.open, f"left open: {elements.open}"
    for svg in page.split("<svg ")[1:]:
        ElementTree.fromstring("<svg " + svg.partition("</svg>")[0] + "</svg>")


def _score(run: Path, folder: Path) -> None:
    if (run / "test.json").exists():
        scores = compute_metrics(find_metrics(list_shipped()), read_history(run))
        json.dumps([scores, read_errors(run)[2].total], allow_nan=False)


class _Elements(HTMLParser):
    """Fails at an element or an attribute that no page of ours has, and at one that is closed out of turn."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ELEMENTS, f"an element of its own: {tag}"
        assert not any(name.startswith("on") for name, _ in attrs), f"an attribute of its own: {attrs}"
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ELEMENTS, f"an element of its own: {tag}"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"closed out of turn: {tag}"
