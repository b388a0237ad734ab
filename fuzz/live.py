"""Send malformed requests and messages to real servers of `leocod live`. Findings are kept, and are an error.

    python fuzz/live.py --tries 1000

Whatever comes, the server goes on, says no more than a sentence about it, and changes nothing: not a byte of the
journal, not a weight of the learner. Who comes from a foreign page, by a foreign name or without the token gets
nothing. Try n with a seed is always the same, but for the port and the token. There are two servers: one of them needs
a token.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from live_messages import damage_frame, damage_message, list_impossible, list_messages
from live_requests import TARGETS, damage_request, make_foreign, make_strange_token
from live_target import Target, prepare_run
from live_wire import TEXT, Closed, Visit, exchange, make_frame, make_request

import leocod
from leocod.run.environment import read_source_state

KINDS = {"message": 40, "impossible": 5, "frame": 10, "request": 25, "foreign": 10, "token": 10}
"""How many of a hundred tries are of each kind."""
PROTOCOL = {None, 1000, 1002, 1003, 1005, 1007, 1008, 1009}
"""Codes with which a server may close a socket on which nonsense came; None: without a word."""
FENCE_EVERY = 25
SILENCE = 0.1
"""Seconds without an answer after which half a request is ended."""
REFUSED = (400, 403)


@dataclass
class Figures:
    """What was seen."""

    tries: Counter[str] = field(default_factory=Counter)
    outcomes: dict[str, Counter[str]] = field(default_factory=lambda: {kind: Counter() for kind in KINDS})
    findings: list[dict[str, Any]] = field(default_factory=list)
    memory: list[float | None] = field(default_factory=list)
    """MB of the first server, every thousand tries."""


class Fuzzer:
    """Tries one thing after the other."""

    def __init__(self, plain: Target, guarded: Target, seed: int) -> None:
        self.plain = plain
        self.guarded = guarded
        self.seed = seed
        self.figures = Figures()
        state = plain.read_state()
        self.frame = int(state["requests"][0]["frame"])
        label, remembered = state["labels"][0]["label"], state["memory"][0]["frame"]
        self.messages = list_messages(self.frame, label, remembered)
        self.impossible = list_impossible(self.frame)

    def run(self, number: int) -> None:
        """Try number so many."""
        random = Random(f"{self.seed} live {number}")
        (kind,) = random.choices(list(KINDS), list(KINDS.values()))
        sent, outcome, wrong = getattr(self, f"_try_{kind}")(random)
        self.figures.tries[kind] += 1
        self.figures.outcomes[kind][outcome] += 1
        for target in (self.plain, self.guarded):
            if target.process.poll() is not None:
                raise SystemExit(f"Try {number} ended the server: {sent!r}")
            if target.has_written():
                wrong = wrong or "the journal has changed"
        if number % FENCE_EVERY == 0 and (strays := self.plain.pass_fence()):
            wrong = wrong or f"answers without a question: {strays}"
        if wrong:
            self.figures.findings.append({"try": number, "kind": kind, "what": wrong, "sent": repr(sent)[:2000]})

    # -- each returns what was sent, what came of it in a word, and what is wrong with that

    def _try_message(self, random: Random) -> tuple[bytes, str, str | None]:
        payload, opcode = damage_message(self.messages, random)
        return self._say(payload, opcode)

    def _try_impossible(self, random: Random) -> tuple[bytes, str, str | None]:
        return self._say(json.dumps(random.choice(self.impossible)).encode(), TEXT)

    def _say(self, payload: bytes, opcode: int) -> tuple[bytes, str, str | None]:
        try:
            self.plain.visit.send(make_frame(payload, opcode))
            told = self.plain.visit.wait_for_ack()
        except Closed as closed:
            self.plain.leave()
            return payload, f"closed, {closed.code}", None if closed.code in PROTOCOL else f"closed with {closed.code}"
        wrong = self.plain.find_leak(json.dumps(told, ensure_ascii=False).encode("utf-8", "replace"))
        if told["ok"] or not isinstance(told.get("error"), str) or len(told["error"]) > 500:
            wrong = f"answered with {told}"
        elif "mistake" in told["error"]:
            wrong = "an error of the server's own"
        return payload, "refused", wrong

    def _try_frame(self, random: Random) -> tuple[bytes, str, str | None]:
        raw = damage_frame(self.messages, random)
        visit, told = Visit(self.plain.port, self.plain.headers), []
        try:
            visit.send(raw)
            told = visit.listen(SILENCE)
            while True:
                visit.receive()
        except Closed as closed:
            code = closed.code
        finally:
            visit.close()
        wrong = None if code in PROTOCOL else f"closed with {code}"
        done = [one for one in told if one["ok"] and one["id"] != 30]
        outcome = f"closed, {code}" if code else "refused" if told else "waited for more"
        return raw, outcome, f"answered with {done}" if done else wrong

    def _try_request(self, random: Random) -> tuple[bytes, str, str | None]:
        raw = damage_request(self.plain.port, self.frame, random)
        answer = exchange(self.plain.port, raw, silence=SILENCE)
        wrong = self.plain.find_leak(answer.raw)
        if answer.status is not None and answer.status >= 500:
            wrong = f"status {answer.status}: {answer.body[:200]!r}"
        return raw, str(answer.status), wrong

    def _try_foreign(self, random: Random) -> tuple[bytes, str, str | None]:
        headers = make_foreign(self.plain.port, random)
        return self._be_turned_away(self.plain, headers, "", random, allowed=REFUSED, code=4403)

    def _try_token(self, random: Random) -> tuple[bytes, str, str | None]:
        """The right page without the right token, or the right token and a foreign page."""
        assert self.guarded.token is not None
        if random.random() < 0.2:
            # Any address in digits may be this server's; names are not.
            headers = {**self.guarded.headers, "Host": f"evil.example:{self.guarded.port}"}
            return self._be_turned_away(self.guarded, headers, "", random, allowed=REFUSED, code=4403)
        strange = make_strange_token(self.guarded.token, random)
        headers = {key: value for key, value in self.guarded.headers.items() if key != "Cookie"}
        place = random.choice(("cookie", "query", "both", "neither"))
        if place in ("cookie", "both"):
            headers["Cookie"] = random.choice(("leocod_token={}", "a=b; leocod_token={}", "token={}")).format(strange)
        query = f"?token={strange.replace(' ', '+')}" if place in ("query", "both") else ""
        return self._be_turned_away(self.guarded, headers, query, random, allowed=(400, 401), code=4401)

    def _be_turned_away(
        self,
        target: Target,
        headers: dict[str, str],
        query: str,
        random: Random,
        *,
        allowed: tuple[int, ...],
        code: int,
    ) -> tuple[bytes, str, str | None]:
        if random.random() < 0.4:
            return self._knock(target, headers, code)
        raw = make_request(random.choice((*TARGETS, f"/api/frames/{self.frame}.jpg")) + query, headers)
        answer = exchange(target.port, raw)
        wrong = target.find_leak(answer.raw)
        if answer.status not in allowed:
            wrong = f"status {answer.status}"
        elif len(answer.body) > 200 or b"set-cookie" in answer.raw.lower():
            wrong = f"it was told {answer.raw[:500]!r}"
        return raw, str(answer.status), wrong

    def _knock(self, target: Target, headers: dict[str, str], code: int) -> tuple[bytes, str, str | None]:
        """Open a socket, and hear nothing but why it is closed."""
        sent = repr(headers).encode()
        try:
            visit = Visit(target.port, headers)
        except Closed:
            return sent, "no socket", None
        try:
            return sent, "a socket", f"it was told {visit.receive()!r}"[:500]
        except Closed as closed:
            return sent, f"closed, {closed.code}", None if closed.code == code else f"closed with {closed.code}"
        finally:
            visit.close()


def check_in_the_end(fuzzer: Fuzzer) -> None:
    """Nothing has changed, nothing was told, and a valid command is done."""
    for target in (fuzzer.plain, fuzzer.guarded):
        wrong = target.list_changes()
        log = target.log.read_text(errors="replace")
        wrong += ["a traceback in its log"] if "Traceback" in log else []
        told = target.ask(type="rename", name="mug", to="cup")
        if not told["ok"] or not target.has_written():
            wrong.append(f"a valid command was not done: {told}")
        fuzzer.figures.findings += [{"try": None, "kind": "end", "what": what, "sent": log[-2000:]} for what in wrong]


def fuzz(home: Path, tries: int, seed: int) -> Figures:
    """Start both servers, and try so many times."""
    prepare_run(home / "plain")
    shutil.copytree(home / "plain", home / "guarded")
    # Another spelling of an address of this machine: only it can be reached, and leocod asks for a token.
    targets = []
    try:
        targets = [Target(home / "plain", "127.0.0.1"), Target(home / "guarded", "127.1")]
        for target in targets:
            target.settle()
        fuzzer = Fuzzer(*targets, seed)
        for number in range(tries):
            fuzzer.run(number)
            if number % 1000 == 0:
                fuzzer.figures.memory.append(targets[0].memory)
            if (number + 1) % 1000 == 0:
                print(f"{number + 1} tries, {len(fuzzer.figures.findings)} findings", flush=True)
        check_in_the_end(fuzzer)
        return fuzzer.figures
    finally:
        for target in targets:
            target.stop()


def main() -> int:
    """Run, print the table, and return whether anything was found as the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("fuzz_out"), help="where findings and figures go")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with TemporaryDirectory() as folder:
        figures = fuzz(Path(folder), options.tries, options.seed)
    content = {
        "seed": options.seed,
        "seconds": round(time.monotonic() - began),
        "tries": sum(figures.tries.values()),
        "kinds": {
            kind: {"tries": figures.tries[kind], "outcomes": dict(figures.outcomes[kind].most_common())}
            for kind in KINDS
        },
        "memory of a server every 1,000 tries, MB": figures.memory,
        "findings": figures.findings,
        "command": ["python", "fuzz/live.py", *sys.argv[1:]],
        "source": read_source_state(Path(leocod.__file__).parent),
    }
    (options.out / "live.json").write_text(json.dumps(content, indent=1) + "\n")
    print(f"{'kind':12}{'tries':>7}{'findings':>10}  outcomes")
    for kind in KINDS:
        found = sum(one["kind"] == kind for one in figures.findings)
        outcomes = ", ".join(f"{name}: {count}" for name, count in figures.outcomes[kind].most_common(8))
        print(f"{kind:12}{figures.tries[kind]:7}{found:10}  {outcomes}")
    for one in figures.findings[:20]:
        print(f"try {one['try']}, {one['kind']}: {one['what'][:300]}")
    return int(bool(figures.findings))


if __name__ == "__main__":
    sys.exit(main())
