import { expect, test } from "vitest";
import * as drafts from "../src/drafts";
import { makeRequest } from "./samples";

const draft = drafts.startDraft(makeRequest(7));
const [first] = draft.boxes;
const id = first?.id ?? "";

test("a draft begins with the detections", () => {
  expect(draft.boxes).toEqual([{ id: "7-0", box: [10, 20, 50, 60], name: "mug", score: 0.9 }]);
  expect(draft.complete).toBe(true);
  expect(draft.touched).toBe(false);
});

test("who corrects a box takes the detector's score away", () => {
  expect(drafts.setBox(draft, id, [11, 20, 50, 60]).boxes[0]).toMatchObject({ box: [11, 20, 50, 60], score: null });
  expect(drafts.nameBox(draft, id, "cup").boxes[0]).toMatchObject({ name: "cup", score: null });
});

test("what changes nothing touches nothing", () => {
  expect(drafts.setBox(draft, id, [10, 20, 50, 60])).toBe(draft);
  expect(drafts.nameBox(draft, id, "mug")).toBe(draft);
  expect(drafts.removeBox(draft, "nobody")).toBe(draft);
});

test("a drag of many small moves is taken back as one", () => {
  const dragged = [12, 14, 16].reduce((one, x) => drafts.setBox(one, id, [x, 20, 50, 60]), draft);

  expect(drafts.takeBack(dragged).boxes).toEqual(draft.boxes);
  expect(drafts.bringBack(drafts.takeBack(dragged)).boxes).toEqual(dragged.boxes);
});

test("steps are taken back one by one", () => {
  const two = drafts.removeBox(drafts.addBox(draft, "new", [0, 0, 9, 9], "cup"), id);

  expect(drafts.takeBack(two).boxes.map((one) => one.name)).toEqual(["mug", "cup"]);
  expect(drafts.takeBack(drafts.takeBack(two)).boxes).toEqual(draft.boxes);
  expect(drafts.takeBack(draft)).toBe(draft);
});

test("what is sent is rounded and has no score", () => {
  const moved = drafts.setBox(draft, id, [10.04, 20.06, 50, 60]);

  expect(drafts.objectsOf(moved)).toEqual([{ box: [10, 20.1, 50, 60], name: "mug" }]);
});

test("a box without a name is found", () => {
  expect(drafts.unnamedBox(draft)).toBeUndefined();
  expect(drafts.unnamedBox(drafts.addBox(draft, "new", [0, 0, 9, 9], ""))?.id).toBe("new");
});

test("names are tidied, and cut without breaking a letter", () => {
  expect(drafts.tidyName("  blue \t mug ")).toBe("blue mug");
  expect(drafts.tidyName("☕".repeat(70))).toBe("☕".repeat(64));
  expect(drafts.tidyName("   ")).toBe("");
});

test("a draft survives being packed", () => {
  const touched = drafts.addBox(draft, "new", [0, 0, 9, 9], "cup");

  const again = drafts.unpackDraft(JSON.parse(JSON.stringify(drafts.packDraft(touched))));

  expect(again).toEqual({ ...touched, past: [], future: [] });
  expect(drafts.unpackDraft({ frame: "seven" })).toBeNull();
});
