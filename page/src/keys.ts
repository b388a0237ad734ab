/** Listens to the keyboard and does what the map says. */

import * as editing from "./editing";
import { type Action, actionFor, type Deed, type Edit, type Focus, type KeyContext } from "./keyboard";
import { changeTheme, changeZoom, currentDraft, type Model, pickNeighbour } from "./model";
import type { Session } from "./session";
import { nameChoices } from "./view";

export function listenToKeys(session: Session): void {
  // Before Annotorious, which has a history of its own behind Ctrl Z.
  window.addEventListener("keydown", (event) => handleKey(event, session), { capture: true });
  // Whoever clicks a button with the mouse does not want Enter to press it again.
  document.addEventListener("click", (event) => {
    const isButton = event.target instanceof Element && event.target.closest(".label-view button") !== null;
    if (event.detail > 0 && isButton) focusSurface();
  });
}

function handleKey(event: KeyboardEvent, session: Session): void {
  if (event.isComposing) return;
  const ctrl = event.ctrlKey || event.metaKey;
  const press = { key: event.key, ctrl, shift: event.shiftKey, alt: event.altKey };
  const action = actionFor(press, contextOf(session.model, document.activeElement));
  if (!action) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  // A key that is held down moves a box on, but must not send one label after another.
  const mayRepeat = "edit" in action && (action.edit === "nudge" || action.edit === "pick box");
  if (!event.repeat || mayRepeat) perform(action, session);
}

export function contextOf(model: Model, active: Element | null): KeyContext {
  const boxes = currentDraft(model)?.boxes ?? [];
  const place = boxes.findIndex(({ id }) => id === model.selected);
  return {
    focus: focusOf(active),
    isDialogOpen: model.dialog !== null,
    view: model.view,
    boxes: boxes.length,
    selected: place === -1 ? null : place,
    isPlacing: model.placing !== null,
  };
}

export function focusOf(active: Element | null): Focus {
  if (!active || active === document.body) return "page";
  if (active.closest("svg")) return "stage";
  if (active.matches("input:not([type=checkbox]), textarea, select, [contenteditable]")) return "text";
  return active.matches("button, a, input, summary") ? "control" : "page";
}

export function perform(action: Action, session: Session): void {
  if ("edit" in action) {
    session.change((model) => applyEdit(model, action, () => session.newKey()));
    if (action.edit === "place") focusSurface();
    if (action.edit === "finish placing") askForName(session.model);
    return;
  }
  const deeds: Record<Deed["do"], () => void> = {
    accept: () => session.accept() || askForName(session.model),
    "nothing here": () => session.nothingHere(),
    skip: () => session.skip(),
    undo: () => session.undo(),
    pause: () => session.pauseOrResume(),
    checkpoint: () => session.send({ type: "checkpoint" }),
    "edit name": focusName,
  };
  deeds[action.do]();
}

export function applyEdit(model: Model, edit: Edit, newId: () => string): Model {
  switch (edit.edit) {
    case "place":
      return editing.startPlacing(model, newId());
    case "finish placing":
      return editing.finishPlacing(model);
    case "cancel placing":
      return editing.cancelPlacing(model);
    case "remove":
      return editing.removeBox(model, model.selected);
    case "complete":
      return editing.toggleComplete(model);
    case "deselect":
      return editing.selectBox(model, null);
    case "take back":
      return editing.takeBack(model);
    case "bring back":
      return editing.bringBack(model);
    case "pick box":
      return editing.selectNeighbour(model, edit.direction);
    case "nudge":
      return editing.nudge(model, edit.right, edit.down, edit);
    case "name":
      return editing.nameSelected(model, nameChoices(model)[edit.place] ?? "");
    case "pick frame":
      return pickNeighbour(model, edit.direction);
    case "zoom":
      return changeZoom(model, edit.direction);
    case "theme":
      return changeTheme(model);
    case "view":
      return { ...model, view: edit.view };
    case "open":
      return { ...model, dialog: { kind: edit.dialog } };
  }
}

/** A box without a name wants one. If there are names to choose from, a number is enough, and must not be typed as text. */
export function askForName(model: Model): void {
  const picked = currentDraft(model)?.boxes.find(({ id }) => id === model.selected);
  if (picked?.name === "" && nameChoices(model).length === 0) focusName();
}

function focusName(): void {
  document.getElementById("name-input")?.focus();
}

export function focusSurface(): void {
  document.getElementById("surface")?.focus({ preventScroll: true });
}
