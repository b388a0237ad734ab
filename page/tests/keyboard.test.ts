import { expect, test } from "vitest";
import { type Action, actionFor, type KeyContext, type KeyPress, SHORTCUTS } from "../src/keyboard";

const HERE: KeyContext = {
  focus: "stage",
  isDialogOpen: false,
  view: "label",
  boxes: 2,
  selected: null,
  isPlacing: false,
};

function press(key: string, context: Partial<KeyContext> = {}, held: Partial<KeyPress> = {}): Action | null {
  return actionFor({ key, ctrl: false, shift: false, alt: false, ...held }, { ...HERE, ...context });
}

test.each([
  ["Enter", { do: "accept" }],
  ["n", { do: "nothing here" }],
  ["N", { do: "nothing here" }],
  ["s", { do: "skip" }],
  ["u", { do: "undo" }],
  ["p", { do: "pause" }],
  ["w", { do: "checkpoint" }],
  ["e", { do: "edit name" }],
  ["d", { edit: "place" }],
  ["c", { edit: "complete" }],
  ["Delete", { edit: "remove" }],
  ["3", { edit: "name", place: 2 }],
  ["PageDown", { edit: "pick frame", direction: 1 }],
  ["+", { edit: "zoom", direction: 1 }],
  ["0", { edit: "zoom", direction: 0 }],
  ["m", { edit: "view", view: "memory" }],
  ["?", { edit: "open", dialog: "help" }],
])("%s does what the help says", (key, action) => {
  expect(press(key)).toEqual(action);
});

test("letters in a text field are letters", () => {
  expect(["n", "Enter", "Delete", "3", "?"].map((key) => press(key, { focus: "text" }))).toEqual(Array(5).fill(null));
});

test("a dialog keeps its keys", () => {
  expect(press("Enter", { isDialogOpen: true })).toBeNull();
});

test("a button keeps Enter, arrows and Tab, but not the letters", () => {
  expect(press("Enter", { focus: "control" })).toBeNull();
  expect(press("ArrowLeft", { focus: "control", selected: 0 })).toBeNull();
  expect(press("Tab", { focus: "control" })).toBeNull();
  expect(press("n", { focus: "control" })).toEqual({ do: "nothing here" });
});

test("no frame is labelled from a view that does not show it", () => {
  expect(["Enter", "n", "s", "Delete", "1"].map((key) => press(key, { view: "memory" }))).toEqual(Array(5).fill(null));
  expect(press("u", { view: "memory" })).toEqual({ do: "undo" });
});

test("arrows pick a box, and move the picked one", () => {
  expect(press("ArrowRight")).toEqual({ edit: "pick box", direction: 1 });
  expect(press("ArrowUp")).toEqual({ edit: "pick box", direction: -1 });
  expect(press("ArrowUp", { boxes: 0 })).toBeNull();
  expect(press("ArrowUp", { selected: 0 })).toEqual({ edit: "nudge", right: 0, down: -1, resize: false, fine: false });
});

test("Shift and arrows resize, Ctrl goes pixel by pixel", () => {
  expect(press("ArrowRight", { selected: 0 }, { shift: true })).toMatchObject({ resize: true, right: 1 });
  expect(press("ArrowRight", { selected: 0 }, { ctrl: true })).toMatchObject({ resize: false, fine: true });
});

test("Tab goes through the boxes and then leads out of the picture", () => {
  expect(press("Tab")).toEqual({ edit: "pick box", direction: 1 });
  expect(press("Tab", { selected: 0 })).toEqual({ edit: "pick box", direction: 1 });
  expect(press("Tab", { selected: 1 })).toBeNull();
  expect(press("Tab", { selected: 1 }, { shift: true })).toEqual({ edit: "pick box", direction: -1 });
  expect(press("Tab", { selected: 0 }, { shift: true })).toBeNull();
});

test("Enter places a box before it accepts the frame", () => {
  expect(press("Enter", { isPlacing: true, selected: 0 })).toEqual({ edit: "finish placing" });
  expect(press("Escape", { isPlacing: true, selected: 0 })).toEqual({ edit: "cancel placing" });
  expect(press("Escape", { selected: 0 })).toEqual({ edit: "deselect" });
  expect(press("Escape")).toBeNull();
});

test("Ctrl Z takes back a change, and the browser keeps its other keys", () => {
  expect(press("z", {}, { ctrl: true })).toEqual({ edit: "take back" });
  expect(press("Z", {}, { ctrl: true, shift: true })).toEqual({ edit: "bring back" });
  expect(press("y", {}, { ctrl: true })).toEqual({ edit: "bring back" });
  expect(press("s", {}, { ctrl: true })).toBeNull();
  expect(press("d", {}, { alt: true })).toBeNull();
});

test("every letter in the help has a meaning", () => {
  const keys = SHORTCUTS.flatMap(({ shortcuts }) => shortcuts.flatMap((one) => one.keys));
  const letters = keys.filter((key) => /^[A-Z0-9?.,+\][]$/.test(key));

  expect(letters.length).toBeGreaterThan(15);
  expect(letters.filter((key) => press(key) === null)).toEqual([]);
});
