import { expect, test } from "vitest";
import { addBox, selectBox } from "../src/editing";
import { type Model, receiveState, setWaiting, startModel } from "../src/model";
import { bannerOf, countersOf, labelRows, nameChoices, placeInQueue, statusOf, TOKEN_SENTENCE } from "../src/view";
import { makeLabel, makeState } from "./samples";

function makeModel(change: Parameters<typeof makeState>[0] = {}): Model {
  return { ...receiveState(startModel(), makeState(change)), connection: { kind: "open" } };
}

test("counters are words that a person reads", () => {
  const texts = Object.fromEntries(countersOf(makeState()).map(({ id, value, detail }) => [id, `${value}|${detail}`]));

  expect(texts).toEqual({
    labels: "4|9 boxes",
    seconds: "2 min 14 s|34 s each",
    frames: "1,234|5 dropped",
    steps: "18|1 waiting",
    "step-time": "0.42 s|",
    lag: "48 ms|",
    memory: "3.2 MB|12 frames",
    accuracy: "–|on 2 frames",
  });
});

test("the status says the most important thing", () => {
  const lost = { status: "reconnecting", message: "No camera.", fps: 0 } as const;

  expect(statusOf(makeModel()).text).toBe("Learning");
  expect(statusOf(makeModel({ status: "paused" })).text).toBe("Paused");
  expect(statusOf(makeModel({ source: lost })).text).toBe("Source lost");
  expect(statusOf(startModel()).text).toBe("Connecting");
  expect(statusOf({ ...makeModel(), connection: { kind: "waiting", until: 0 } }).text).toBe("Not connected");
});

test("all is well: no banner", () => {
  expect(bannerOf(makeModel(), 0)).toBeNull();
});

test("a lost connection says when it is tried again, and what waits", () => {
  const model = { ...makeModel(), connection: { kind: "waiting", until: 5200 } } as const;
  const waiting = setWaiting(model, [{ type: "skip", frame: 1, id: 1 }]);

  expect(bannerOf(model, 2000)?.text).toBe("Next try in 4 s. Nothing is lost.");
  expect(bannerOf(waiting, 2000)?.text).toBe("Next try in 4 s. 1 command will be sent then.");
});

test("without a token the page says what to do", () => {
  expect(bannerOf({ ...startModel(), connection: { kind: "token is missing" } }, 0)?.text).toBe(TOKEN_SENTENCE);
});

test("a lost source, a pause and a busy run are said above everything", () => {
  const lost = { status: "reconnecting", message: "No camera.", fps: 0 } as const;

  expect(bannerOf(makeModel({ source: lost }), 0)).toMatchObject({ tone: "bad", text: "No camera." });
  expect(bannerOf(makeModel({ status: "paused" }), 0)).toMatchObject({ tone: "warning", title: "Learning is paused" });
  expect(bannerOf(makeModel({ status: "busy", activity: "Step 3 of 9." }), 0)?.text).toBe("Step 3 of 9.");
  expect(bannerOf(makeModel({ status: "ended" }), 0)?.title).toBe("The run has ended");
});

test("labels on their way stand above those that are taken", () => {
  const model = makeModel({ labels: [makeLabel(9, 5), makeLabel(8, 4)] });
  const objects = Array(2).fill({ box: [1, 2, 3, 4], name: "mug" });
  const label = { type: "label", frame: 1, objects, complete: true, seconds: 1, key: "k" } as const;

  const rows = labelRows(
    setWaiting(model, [
      { ...label, id: 1 },
      { type: "undo", label: 8, id: 2 },
    ]),
  );

  expect(rows.map(({ label: number, text, state }) => [number, text, state])).toEqual([
    [null, "mug ×2", "sending"],
    [9, "mug", "waiting"],
    [8, "mug", "taking back"],
  ]);
});

test("an empty label is called nothing here", () => {
  const model = makeModel({ labels: [{ ...makeLabel(9, 5), names: [] }] });

  expect(labelRows(model)[0]?.text).toBe("Nothing here");
});

test("names that the person uses come before those from the start", () => {
  const one = { labels: 0, boxes: 0, last_seen: null, ap: null };
  const classes = [
    { ...one, name: "person", from_start: true },
    { ...one, name: "dog", from_start: true, labels: 2 },
    { ...one, name: "mug", from_start: false },
  ];

  expect(nameChoices(makeModel({ classes }))).toEqual(["dog", "mug", "person"]);
});

test("a new name can be chosen again at once", () => {
  const drawn = addBox({ ...makeModel(), nextName: "spoon" }, "new", [1, 2, 30, 40]);

  expect(nameChoices(selectBox(drawn, null))).toEqual(["mug", "spoon"]);
});

test("the queue says where one is", () => {
  expect(placeInQueue(makeModel())).toEqual({ place: 1, of: 2 });
  expect(placeInQueue(makeModel({ requests: [] }))).toBeNull();
});
