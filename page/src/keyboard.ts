/** The keyboard map: which key does what, and where. */

import type { View } from "./model";

export type KeyPress = { key: string; ctrl: boolean; shift: boolean; alt: boolean };

/** Where the keyboard's focus is. Keys of a text field or a button stay with it. */
export type Focus = "page" | "stage" | "control" | "text";

export type KeyContext = {
  focus: Focus;
  isDialogOpen: boolean;
  view: View;
  boxes: number;
  /** Place of the picked box in the list. */
  selected: number | null;
  isPlacing: boolean;
};

/** What changes only this page. */
export type Edit =
  | { edit: "place" }
  | { edit: "finish placing" }
  | { edit: "cancel placing" }
  | { edit: "remove" }
  | { edit: "complete" }
  | { edit: "deselect" }
  | { edit: "take back" }
  | { edit: "bring back" }
  | { edit: "theme" }
  | { edit: "zoom"; direction: 1 | -1 | 0 }
  | { edit: "name"; place: number }
  | { edit: "pick box"; direction: 1 | -1 }
  | { edit: "pick frame"; direction: 1 | -1 }
  | { edit: "nudge"; right: number; down: number; resize: boolean; fine: boolean }
  | { edit: "view"; view: View }
  | { edit: "open"; dialog: "help" | "export" };

/** What the server hears of, or what needs the page's fields. */
export type Deed = {
  do: "accept" | "nothing here" | "skip" | "undo" | "pause" | "checkpoint" | "edit name";
};

export type Action = Edit | Deed;

const ARROWS: Record<string, readonly [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

const VIEW_KEYS: Record<string, View> = { l: "label", k: "classes", m: "memory", a: "accuracy", g: "messages" };

/** Letters that work in every view. */
const EVERYWHERE: Record<string, Action> = {
  u: { do: "undo" },
  p: { do: "pause" },
  w: { do: "checkpoint" },
  x: { edit: "open", dialog: "export" },
  t: { edit: "theme" },
  "?": { edit: "open", dialog: "help" },
};

/** Keys that work only where the frame is seen that they are about. */
const LABELLING: Record<string, Action> = {
  n: { do: "nothing here" },
  s: { do: "skip" },
  d: { edit: "place" },
  c: { edit: "complete" },
  e: { do: "edit name" },
  Delete: { edit: "remove" },
  Backspace: { edit: "remove" },
  "]": { edit: "pick box", direction: 1 },
  "[": { edit: "pick box", direction: -1 },
  PageDown: { edit: "pick frame", direction: 1 },
  PageUp: { edit: "pick frame", direction: -1 },
  ".": { edit: "pick frame", direction: 1 },
  ",": { edit: "pick frame", direction: -1 },
  "+": { edit: "zoom", direction: 1 },
  "=": { edit: "zoom", direction: 1 },
  "-": { edit: "zoom", direction: -1 },
  "0": { edit: "zoom", direction: 0 },
};

/** What a key means here; null leaves it to the browser. */
export function actionFor(press: KeyPress, context: KeyContext): Action | null {
  if (context.focus === "text" || context.isDialogOpen || press.alt) return null;
  const key = press.key.length === 1 ? press.key.toLowerCase() : press.key;
  if (press.ctrl) return context.view === "label" ? actionWithCtrl(key, press, context) : null;
  const everywhere =
    EVERYWHERE[key] ?? (VIEW_KEYS[key] ? ({ edit: "view", view: VIEW_KEYS[key] } as const) : undefined);
  if (everywhere) return everywhere;
  return context.view === "label" ? labellingAction(key, press, context) : null;
}

function labellingAction(key: string, press: KeyPress, context: KeyContext): Action | null {
  if (key === "Escape") {
    if (context.isPlacing) return { edit: "cancel placing" };
    return context.selected === null ? null : { edit: "deselect" };
  }
  if (/^[1-9]$/.test(key)) return { edit: "name", place: Number(key) - 1 };
  const simple = LABELLING[key];
  if (simple) return simple;
  // A button answers to Enter, a list of tabs to arrows, and Tab must lead on.
  if (context.focus === "control") return null;
  if (key === "Enter") return context.isPlacing ? { edit: "finish placing" } : { do: "accept" };
  if (key === "Tab") return context.focus === "stage" ? actionOfTab(press, context) : null;
  return actionOfArrow(key, press, context);
}

function actionWithCtrl(key: string, press: KeyPress, context: KeyContext): Action | null {
  if (key === "z") return { edit: press.shift ? "bring back" : "take back" };
  if (key === "y") return { edit: "bring back" };
  return context.focus === "control" ? null : actionOfArrow(key, press, context);
}

/** Inside the picture Tab goes from box to box; after the last one it leaves the picture, so nobody is caught. */
function actionOfTab(press: KeyPress, context: KeyContext): Action | null {
  const direction = press.shift ? -1 : 1;
  const next = context.selected === null ? (press.shift ? -1 : 0) : context.selected + direction;
  return next >= 0 && next < context.boxes ? { edit: "pick box", direction } : null;
}

function actionOfArrow(key: string, press: KeyPress, context: KeyContext): Action | null {
  const arrow = ARROWS[key];
  if (!arrow) return null;
  const [right, down] = arrow;
  if (context.selected !== null) return { edit: "nudge", right, down, resize: press.shift, fine: press.ctrl };
  return context.boxes > 0 ? { edit: "pick box", direction: right + down > 0 ? 1 : -1 } : null;
}

export type Shortcut = { keys: readonly string[]; what: string };

/** What the help shows. */
export const SHORTCUTS: readonly { title: string; shortcuts: readonly Shortcut[] }[] = [
  {
    title: "This frame",
    shortcuts: [
      { keys: ["Enter"], what: "Accept the boxes as they are" },
      { keys: ["N"], what: "Nothing here" },
      { keys: ["S"], what: "Skip the frame" },
      { keys: ["C"], what: "All objects are marked, or only some" },
      { keys: ["Page down", "."], what: "Next frame" },
      { keys: ["Page up", ","], what: "Previous frame" },
      { keys: ["U"], what: "Undo the last label" },
    ],
  },
  {
    title: "The run",
    shortcuts: [
      { keys: ["P"], what: "Pause or resume learning" },
      { keys: ["W"], what: "Write a checkpoint" },
      { keys: ["X"], what: "Export the detector" },
    ],
  },
  {
    title: "The page",
    shortcuts: [
      { keys: ["L"], what: "Label" },
      { keys: ["K"], what: "Classes" },
      { keys: ["M"], what: "Memory" },
      { keys: ["A"], what: "Accuracy" },
      { keys: ["G"], what: "Messages" },
      { keys: ["T"], what: "Light, dark, or as the system" },
      { keys: ["?"], what: "This help" },
    ],
  },
  {
    title: "Boxes",
    shortcuts: [
      { keys: ["Tab", "]"], what: "Next box" },
      { keys: ["Shift Tab", "["], what: "Previous box" },
      { keys: ["D"], what: "Draw a box by keyboard" },
      { keys: ["Arrows"], what: "Move the picked box (with Ctrl by one pixel)" },
      { keys: ["Shift arrows"], what: "Resize the picked box" },
      { keys: ["1", "…", "9"], what: "Name the picked box" },
      { keys: ["E"], what: "Type a name" },
      { keys: ["Delete"], what: "Remove the picked box" },
      { keys: ["Esc"], what: "Let go of the box" },
      { keys: ["Ctrl Z", "Ctrl Y"], what: "Take back a change of boxes, bring it back" },
      { keys: ["+", "−", "0"], what: "Zoom in, zoom out, fit" },
    ],
  },
];
