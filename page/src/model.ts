/** All that the page knows, and how it changes when the server speaks. Functions return new models. */

import { type ColourPlaces, placeColours } from "./colours";
import type { ConnectionStatus } from "./connection";
import type { LabelRequest, SentCommand, State } from "./contract";
import { type Draft, startDraft } from "./drafts";

export const VIEWS = ["label", "classes", "memory", "accuracy", "messages"] as const;
export type View = (typeof VIEWS)[number];

export type Theme = "system" | "light" | "dark";

const NEXT_THEME: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };

export const ZOOMS = [1, 1.5, 2, 3, 4, 6] as const;

export type Notice = {
  id: number;
  level: "done" | "info" | "warning" | "error";
  text: string;
  /** A file to download. */
  file?: string;
};

export type Dialog =
  | { kind: "help" }
  | { kind: "export" }
  | { kind: "rename"; name: string }
  | { kind: "merge"; name: string }
  | { kind: "look"; frame: number }
  | { kind: "forget"; frame: number };

export type TakenLabel = { label: number; frame: number };

export type Model = {
  connection: ConnectionStatus;
  state: State | null;
  /** One sentence if the server says what this page does not understand. */
  misunderstanding: string | null;
  view: View;
  dialog: Dialog | null;
  theme: Theme;
  notices: Notice[];
  /** The frame that is being labelled. */
  current: number | null;
  drafts: Readonly<Record<number, Draft>>;
  /** Id of the box that is picked. */
  selected: string | null;
  /** Id of the box that is being placed by keyboard. */
  placing: string | null;
  /** The name that a new box gets. */
  nextName: string;
  zoom: number;
  /** Commands without an answer. */
  waiting: readonly SentCommand[];
  /** Frames that are answered, but still in the server's last state. */
  answered: readonly number[];
  /** Labels that were acknowledged, but are not in the server's last state yet; newest first. */
  taken: readonly TakenLabel[];
  /** A frame whose label was taken back: shown as soon as it is asked for again. */
  reopened: number | null;
  colours: ColourPlaces;
  /** Time of the newest message that the person has seen, in unix seconds. */
  readUntil: number;
};

export function startModel(theme: Theme = "system", colours: ColourPlaces = {}): Model {
  return {
    connection: { kind: "connecting" },
    state: null,
    misunderstanding: null,
    view: "label",
    dialog: null,
    theme,
    notices: [],
    current: null,
    drafts: {},
    selected: null,
    placing: null,
    nextName: "",
    zoom: 1,
    waiting: [],
    answered: [],
    taken: [],
    reopened: null,
    colours,
    readUntil: 0,
  };
}

/** The frames that still want a label, oldest first: without those whose answer is on its way. */
export function openRequests(model: Model): LabelRequest[] {
  const onTheirWay = model.waiting.flatMap((one) => (one.type === "label" || one.type === "skip" ? [one.frame] : []));
  const gone = new Set([...onTheirWay, ...model.answered]);
  return (model.state?.requests ?? []).filter(({ frame }) => !gone.has(frame));
}

export function currentRequest(model: Model): LabelRequest | undefined {
  return openRequests(model).find(({ frame }) => frame === model.current);
}

export function currentDraft(model: Model): Draft | undefined {
  return model.current === null ? undefined : model.drafts[model.current];
}

/** Takes in a new state of the server. */
export function receiveState(model: Model, state: State): Model {
  const asked = new Set(state.requests.map(({ frame }) => frame));
  const lost = model.current !== null && !asked.has(model.current) ? model.drafts[model.current] : undefined;
  const isMine = model.current !== null && isAnswered(model, model.current);
  const isBack = model.reopened !== null && asked.has(model.reopened);
  const next = settle({
    ...model,
    state,
    current: isBack ? model.reopened : model.current,
    reopened: isBack ? null : model.reopened,
    misunderstanding: null,
    answered: model.answered.filter((frame) => asked.has(frame)),
    taken: model.taken.filter(({ label }) => state.labels.every((listed) => listed.label < label)),
    drafts: keepDrafts(model.drafts, state),
    colours: placeColours(namesIn(state), model.colours),
  });
  return lost?.touched && !isMine ? addNotice(next, "info", explainLoss(lost.frame, state)) : next;
}

/** Every label that can be taken back, newest first. */
export function givenLabels(model: Model): TakenLabel[] {
  const gone = new Set(model.waiting.flatMap((one) => (one.type === "undo" ? [one.label] : [])));
  return [...model.taken, ...(model.state?.labels ?? [])].filter(({ label }) => !gone.has(label));
}

function isAnswered(model: Model, frame: number): boolean {
  const isWaiting = model.waiting.some((one) => one.type === "label" && one.frame === frame);
  return isWaiting || model.answered.includes(frame);
}

function explainLoss(frame: number, state: State): string {
  const isLabelled = state.labels.some((label) => label.frame === frame);
  return isLabelled
    ? `Frame ${frame} was labelled in another window. Your draft of it was put away.`
    : `Frame ${frame} does not want a label any more. Your draft of it was put away.`;
}

/** Drafts of frames that are asked for, or may be asked for again when their label is taken back. */
function keepDrafts(drafts: Model["drafts"], state: State): Model["drafts"] {
  const frames = new Set([...state.requests, ...state.labels].map(({ frame }) => frame));
  return Object.fromEntries(Object.entries(drafts).filter(([, draft]) => frames.has(draft.frame)));
}

function namesIn(state: State): string[] {
  return [...state.classes, ...state.requests.flatMap(({ proposals }) => proposals)].map(({ name }) => name);
}

/** Makes sure that a frame is picked if there is one, and that it has a draft. */
export function settle(model: Model): Model {
  const requests = openRequests(model);
  const request = requests.find(({ frame }) => frame === model.current) ?? requests[0];
  if (!request) return { ...model, current: null, selected: null, placing: null };
  const kept = model.drafts[request.frame];
  const isUsable = kept && (kept.asked === null || kept.asked === request.asked);
  const draft = isUsable ? { ...kept, asked: request.asked } : startDraft(request);
  const isSame = request.frame === model.current;
  const selected = isSame && draft.boxes.some(({ id }) => id === model.selected) ? model.selected : null;
  return {
    ...model,
    current: request.frame,
    drafts: isUsable && kept.asked === request.asked ? model.drafts : { ...model.drafts, [request.frame]: draft },
    selected,
    placing: selected !== null && selected === model.placing ? selected : null,
    zoom: isSame ? model.zoom : 1,
  };
}

export function pickFrame(model: Model, frame: number): Model {
  return settle({ ...model, current: frame });
}

/** Goes on to the frame after the current one, or before it. */
export function pickNeighbour(model: Model, direction: 1 | -1): Model {
  const frames = openRequests(model).map(({ frame }) => frame);
  const place = frames.indexOf(model.current ?? Number.NaN);
  const next = frames[(place + direction + frames.length) % frames.length];
  return next === undefined ? model : pickFrame(model, next);
}

/** Records which commands wait; whoever answers the current frame goes on to the next one. */
export function setWaiting(model: Model, waiting: readonly SentCommand[]): Model {
  const frames = openRequests(model).map(({ frame }) => frame);
  const next = { ...model, waiting: [...waiting] };
  if (model.current === null || openRequests(next).some(({ frame }) => frame === model.current)) return settle(next);
  const later = frames.slice(frames.indexOf(model.current) + 1);
  return settle({ ...next, current: later[0] ?? frames[0] ?? null });
}

let lastNotice = 0;

export function addNotice(model: Model, level: Notice["level"], text: string, file?: string): Model {
  lastNotice += 1;
  const notice: Notice = file === undefined ? { id: lastNotice, level, text } : { id: lastNotice, level, text, file };
  return { ...model, notices: [...model.notices, notice].slice(-4) };
}

export function dropNotice(model: Model, id: number): Model {
  return { ...model, notices: model.notices.filter((one) => one.id !== id) };
}

export function changeTheme(model: Model): Model {
  return { ...model, theme: NEXT_THEME[model.theme] };
}

/** One step closer or further; 0 makes the whole picture fit. */
export function changeZoom(model: Model, direction: 1 | -1 | 0): Model {
  const place = direction === 0 ? 0 : ZOOMS.findIndex((one) => one >= model.zoom) + direction;
  return { ...model, zoom: ZOOMS[Math.min(Math.max(place, 0), ZOOMS.length - 1)] ?? 1 };
}
