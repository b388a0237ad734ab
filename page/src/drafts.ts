/** What a person has drawn in one frame and not sent yet. Functions return new drafts. */

import { fitBox, isSameBox, roundBox } from "./boxes";
import { type Box, type LabelledObject, type LabelRequest, LONGEST_NAME, type Size } from "./contract";

export type DraftBox = {
  id: string;
  box: Box;
  /** Empty until somebody names it. */
  name: string;
  /** The detector's, as long as nobody has changed the box or its name. */
  score: number | null;
};

export type Draft = {
  frame: number;
  /** When the frame was asked for: tells it from a frame with the same number in another life of the run. */
  asked: number | null;
  size: Size;
  boxes: DraftBox[];
  complete: boolean;
  touched: boolean;
  past: DraftBox[][];
  future: DraftBox[][];
  /** Which box was dragged last: a drag of many small moves is taken back as one. */
  dragged: string | null;
};

const LONGEST_PAST = 50;

export function startDraft(request: LabelRequest): Draft {
  return {
    frame: request.frame,
    asked: request.asked,
    size: request.size,
    boxes: request.proposals.map(({ box, name, score }, index) => ({
      id: `${request.frame}-${index}`,
      box: fitBox(box, request.size),
      name,
      score,
    })),
    complete: true,
    touched: false,
    past: [],
    future: [],
    dragged: null,
  };
}

function change(draft: Draft, boxes: DraftBox[], dragged: string | null = null): Draft {
  const isSameDrag = dragged !== null && dragged === draft.dragged;
  const past = isSameDrag ? draft.past : [...draft.past, draft.boxes].slice(-LONGEST_PAST);
  return { ...draft, boxes, past, future: [], touched: true, dragged };
}

export function addBox(draft: Draft, id: string, box: Box, name: string): Draft {
  return change(draft, [...draft.boxes, { id, box: fitBox(box, draft.size), name, score: null }]);
}

export function setBox(draft: Draft, id: string, box: Box): Draft {
  const old = draft.boxes.find((one) => one.id === id);
  const fitted = fitBox(box, draft.size);
  if (!old || isSameBox(old.box, fitted, 0.001)) return draft;
  return change(
    draft,
    draft.boxes.map((one) => (one.id === id ? { ...one, box: fitted, score: null } : one)),
    id,
  );
}

export function nameBox(draft: Draft, id: string, name: string): Draft {
  const old = draft.boxes.find((one) => one.id === id);
  if (!old || old.name === name) return draft;
  return change(
    draft,
    draft.boxes.map((one) => (one.id === id ? { ...one, name, score: null } : one)),
  );
}

export function removeBox(draft: Draft, id: string): Draft {
  const boxes = draft.boxes.filter((one) => one.id !== id);
  return boxes.length === draft.boxes.length ? draft : change(draft, boxes);
}

export function setComplete(draft: Draft, complete: boolean): Draft {
  return { ...draft, complete, touched: true };
}

export function takeBack(draft: Draft): Draft {
  const boxes = draft.past.at(-1);
  if (!boxes) return draft;
  return { ...draft, boxes, past: draft.past.slice(0, -1), future: [...draft.future, draft.boxes], dragged: null };
}

export function bringBack(draft: Draft): Draft {
  const boxes = draft.future.at(-1);
  if (!boxes) return draft;
  return { ...draft, boxes, future: draft.future.slice(0, -1), past: [...draft.past, draft.boxes], dragged: null };
}

export function objectsOf(draft: Draft): LabelledObject[] {
  return draft.boxes.map(({ box, name }) => ({ box: roundBox(box), name }));
}

/** The box that keeps the draft from being sent: it has no name. */
export function unnamedBox(draft: Draft): DraftBox | undefined {
  return draft.boxes.find(({ name }) => name === "");
}

/** A name as it is sent; empty if it is none. */
export function tidyName(text: string): string {
  return [...text.normalize("NFC").replace(/\s+/gu, " ").trim()].slice(0, LONGEST_NAME).join("");
}

/** What is kept over a reload: all but the history. */
export function packDraft({ frame, asked, size, boxes, complete, touched }: Draft): object {
  return { frame, asked, size, boxes, complete, touched };
}

export function unpackDraft(kept: unknown): Draft | null {
  const draft = kept as Partial<Draft> | null;
  if (!draft || typeof draft.frame !== "number" || !Array.isArray(draft.boxes) || !Array.isArray(draft.size))
    return null;
  return {
    frame: draft.frame,
    asked: draft.asked ?? null,
    size: draft.size,
    boxes: draft.boxes,
    complete: draft.complete !== false,
    touched: draft.touched === true,
    past: [],
    future: [],
    dragged: null,
  };
}
