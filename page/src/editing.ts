/** What a person does to the boxes of the current frame. Functions return new models. */

import { keyStep, middleBox, moveBox, resizeBox } from "./boxes";
import { placeColours } from "./colours";
import type { Box } from "./contract";
import * as drafts from "./drafts";
import { currentDraft, type Model } from "./model";

function edit(model: Model, change: (draft: drafts.Draft) => drafts.Draft): Model {
  const draft = currentDraft(model);
  if (!draft) return model;
  const changed = change(draft);
  if (changed === draft) return model;
  const isThere = changed.boxes.some(({ id }) => id === model.selected);
  return {
    ...model,
    drafts: { ...model.drafts, [draft.frame]: changed },
    selected: isThere ? model.selected : null,
    placing: isThere ? model.placing : null,
  };
}

export function selectBox(model: Model, id: string | null): Model {
  return model.selected === id ? model : { ...model, selected: id, placing: null };
}

/** Picks the box after the picked one, or before it; past the last one comes the first. */
export function selectNeighbour(model: Model, direction: 1 | -1): Model {
  const ids = (currentDraft(model)?.boxes ?? []).map(({ id }) => id);
  if (ids.length === 0) return model;
  const place = model.selected === null ? -1 : ids.indexOf(model.selected);
  const next = place === -1 ? (direction === 1 ? 0 : ids.length - 1) : (place + direction + ids.length) % ids.length;
  return selectBox(model, ids[next] ?? null);
}

export function addBox(model: Model, id: string, box: Box): Model {
  const next = edit(model, (draft) => drafts.addBox(draft, id, box, model.nextName));
  return { ...next, selected: id, placing: null };
}

export function setBox(model: Model, id: string, box: Box): Model {
  return edit(model, (draft) => drafts.setBox(draft, id, box));
}

/** Names the picked box. Boxes drawn later get the same name. */
export function nameSelected(model: Model, text: string): Model {
  const name = drafts.tidyName(text);
  if (name === "") return model;
  const named = edit(model, (draft) => (model.selected ? drafts.nameBox(draft, model.selected, name) : draft));
  return { ...named, nextName: name, colours: placeColours([name], named.colours) };
}

export function removeBox(model: Model, id: string | null): Model {
  return id === null ? model : edit(model, (draft) => drafts.removeBox(draft, id));
}

/** Puts a box into the middle of the picture, to be placed by keyboard. */
export function startPlacing(model: Model, id: string): Model {
  const draft = currentDraft(model);
  if (!draft) return model;
  return { ...addBox(model, id, middleBox(draft.size)), placing: id };
}

export function finishPlacing(model: Model): Model {
  return { ...model, placing: null };
}

export function cancelPlacing(model: Model): Model {
  return removeBox({ ...model, placing: null }, model.placing);
}

/** Moves or resizes the picked box by keyboard; `fine` goes pixel by pixel. */
export function nudge(model: Model, right: number, down: number, how: { resize: boolean; fine: boolean }): Model {
  const draft = currentDraft(model);
  const box = draft?.boxes.find(({ id }) => id === model.selected);
  if (!draft || !box) return model;
  const step = how.fine ? 1 : keyStep(draft.size);
  const change = how.resize ? resizeBox : moveBox;
  return setBox(model, box.id, change(box.box, right * step, down * step, draft.size));
}

export function toggleComplete(model: Model): Model {
  return edit(model, (draft) => drafts.setComplete(draft, !draft.complete));
}

export function takeBack(model: Model): Model {
  return edit(model, drafts.takeBack);
}

export function bringBack(model: Model): Model {
  return edit(model, drafts.bringBack);
}
