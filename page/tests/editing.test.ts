import { expect, test } from "vitest";
import * as editing from "../src/editing";
import { currentDraft, type Model, pickNeighbour, receiveState, startModel } from "../src/model";
import { makeRequest, makeState } from "./samples";

const proposals = [
  { box: [10, 20, 50, 60], name: "mug", score: 0.9 },
  { box: [60, 20, 90, 60], name: "cup", score: 0.8 },
] as const;
const model = receiveState(
  startModel(),
  makeState({ requests: [makeRequest(1, { proposals: [...proposals] }), makeRequest(2)] }),
);

const names = (one: Model) => currentDraft(one)?.boxes.map(({ name }) => name);

test("boxes are picked in a circle", () => {
  const first = editing.selectNeighbour(model, 1);

  expect(first.selected).toBe("1-0");
  expect(editing.selectNeighbour(first, -1).selected).toBe("1-1");
  expect(editing.selectNeighbour(editing.selectNeighbour(first, 1), 1).selected).toBe("1-0");
});

test("a name goes to the picked box and to boxes drawn later", () => {
  const named = editing.nameSelected(editing.selectBox(model, "1-1"), " spoon ");

  expect(names(named)).toEqual(["mug", "spoon"]);
  expect(names(editing.addBox(named, "new", [0, 0, 9, 9]))).toEqual(["mug", "spoon", "spoon"]);
});

test("without a picked box a name is that of the next box", () => {
  const named = editing.nameSelected(model, "spoon");

  expect(names(named)).toEqual(["mug", "cup"]);
  expect(named.nextName).toBe("spoon");
});

test("removing the picked box lets go of it", () => {
  const removed = editing.removeBox(editing.selectBox(model, "1-0"), "1-0");

  expect(names(removed)).toEqual(["cup"]);
  expect(removed.selected).toBeNull();
});

test("a box is placed by keyboard: it starts in the middle, moves and grows", () => {
  const placing = editing.startPlacing(model, "new");
  const moved = editing.nudge(placing, 1, 0, { resize: false, fine: false });
  const grown = editing.nudge(moved, 0, 1, { resize: true, fine: true });

  expect(placing.placing).toBe("new");
  expect(currentDraft(placing)?.boxes.at(-1)?.box).toEqual([87.5, 37.5, 112.5, 62.5]);
  expect(currentDraft(grown)?.boxes.at(-1)?.box).toEqual([89.5, 37.5, 114.5, 63.5]);
});

test("who cancels placing has no new box, who finishes keeps it picked", () => {
  const placing = editing.startPlacing(model, "new");

  expect(names(editing.cancelPlacing(placing))).toEqual(["mug", "cup"]);
  expect(editing.finishPlacing(placing)).toMatchObject({ placing: null, selected: "new" });
});

test("another frame has another draft", () => {
  const changed = editing.removeBox(model, "1-0");
  const there = pickNeighbour(changed, 1);

  expect(there.current).toBe(2);
  expect(names(there)).toEqual(["mug"]);
  expect(names(pickNeighbour(there, 1))).toEqual(["cup"]);
});

test("some objects or all objects", () => {
  expect(currentDraft(editing.toggleComplete(model))?.complete).toBe(false);
});
