/** From what the page knows to what it shows. Pure functions, without a browser. */

import type { Counters, LabelState, State } from "./contract";
import { currentDraft, type Model, openRequests } from "./model";
import * as words from "./words";

export type Tone = "good" | "calm" | "warning" | "bad";

export type Counter = { id: string; label: string; value: string; detail: string; help: string };

export function countersOf(state: State): Counter[] {
  return [...countersOfPerson(state.counters), ...countersOfRun(state.counters), accuracyCounter(state)];
}

function countersOfPerson(counters: Counters): Counter[] {
  return [
    {
      id: "labels",
      label: "Labels",
      value: words.countText(counters.labels),
      detail: words.plural(counters.boxes, "box", "boxes"),
      help: "Frames that you have labelled, and the boxes in them",
    },
    {
      id: "seconds",
      label: "Your time",
      value: words.durationText(counters.seconds),
      detail: counters.labels > 0 ? `${words.spanText(counters.seconds / counters.labels)} each` : "no label yet",
      help: "Time that you have spent on labels",
    },
  ];
}

function countersOfRun(counters: Counters): Counter[] {
  const dropped = counters.frames_dropped > 0 ? `${words.countText(counters.frames_dropped)} dropped` : "none dropped";
  return [
    {
      id: "frames",
      label: "Frames seen",
      value: words.countText(counters.frames_seen),
      detail: dropped,
      help: "Frames that the detector has looked at",
    },
    {
      id: "steps",
      label: "Steps learnt",
      value: words.countText(counters.steps_learned),
      detail: `${words.countText(counters.steps_waiting)} waiting`,
      help: `Of ${words.countText(counters.steps_seen)} steps, ${words.countText(counters.steps_dropped)} were dropped`,
    },
    {
      id: "step-time",
      label: "Step time",
      value: words.spanText(counters.step_seconds),
      detail: "",
      help: "Mean time to learn a step",
    },
    {
      id: "lag",
      label: "Lag",
      value: words.spanText(counters.lag),
      detail: "",
      help: "From the camera to the detection: 95 of 100 pictures of late were faster",
    },
    {
      id: "memory",
      label: "Memory",
      value: words.bytesText(counters.memory_bytes),
      detail: words.plural(counters.memory_frames, "frame"),
      help: `${words.countText(counters.memory_bytes)} bytes`,
    },
  ];
}

function accuracyCounter(state: State): Counter {
  const last = state.accuracy.at(-1);
  return {
    id: "accuracy",
    label: "AP50",
    value: words.pointsText(last?.ap ?? null),
    detail: `on ${words.plural(state.kept_aside, "frame")}`,
    help: "Average precision on labels of yours that are kept aside and never learnt",
  };
}

export type Status = { tone: Tone; text: string; detail: string };

/** The one thing to know about the run at the moment. */
export function statusOf(model: Model): Status {
  const { state, connection } = model;
  if (connection.kind === "token is missing")
    return { tone: "bad", text: "No access", detail: "The token is missing." };
  if (!state) return { tone: "calm", text: "Connecting", detail: "" };
  if (connection.kind !== "open") return { tone: "bad", text: "Not connected", detail: "" };
  if (state.status === "ended") return { tone: "calm", text: "Ended", detail: "" };
  if (state.status === "busy") return { tone: "warning", text: "Busy", detail: "" };
  if (state.status === "paused") return { tone: "warning", text: "Paused", detail: "" };
  if (state.source.status === "reconnecting") {
    return { tone: "bad", text: "Source lost", detail: "" };
  }
  if (state.source.status === "ended") return { tone: "calm", text: "Source ended", detail: "" };
  return { tone: "good", text: "Learning", detail: `${state.source.fps.toFixed(1)} frames/s` };
}

export type Banner = { tone: Tone; title: string; text: string; action?: "retry" };

export const TOKEN_SENTENCE = "This page needs its token: open the address that leocod live printed.";

/** What stands above everything because the person should know it now. */
export function bannerOf(model: Model, now: number): Banner | null {
  const { state, connection, misunderstanding } = model;
  if (connection.kind === "token is missing") return { tone: "bad", title: "No access", text: TOKEN_SENTENCE };
  if (misunderstanding) {
    return { tone: "bad", title: "Page and server differ", text: `${misunderstanding} Reload the page.` };
  }
  if (connection.kind === "waiting" || (connection.kind === "connecting" && state)) {
    return lostConnection(model, connection.kind === "waiting" ? connection.until - now : 0);
  }
  if (!state) return null;
  if (state.status === "ended") {
    return { tone: "calm", title: "The run has ended", text: "What it learnt is in its directory." };
  }
  if (state.source.status === "reconnecting") {
    const why = state.source.message ?? "leocod tries to reach it again.";
    return { tone: "bad", title: "The source is lost", text: why };
  }
  if (state.status === "busy") {
    return { tone: "warning", title: "One moment", text: state.activity ?? "A label is being taken back." };
  }
  if (state.status === "paused") {
    const text = "The detector still looks, but does not learn. Labels wait until you resume.";
    return { tone: "warning", title: "Learning is paused", text };
  }
  if (state.source.status === "ended") {
    const text = state.source.message ?? "No more frames will come.";
    return { tone: "calm", title: "The source has ended", text };
  }
  return null;
}

function lostConnection(model: Model, milliseconds: number): Banner {
  const seconds = Math.ceil(milliseconds / 1000);
  const when = seconds > 0 ? `Next try in ${seconds} s.` : "Trying now.";
  const labels = model.waiting.length;
  const kept = labels > 0 ? ` ${words.plural(labels, "command")} will be sent then.` : " Nothing is lost.";
  return { tone: "bad", title: "No connection to leocod live", text: `${when}${kept}`, action: "retry" };
}

export type LabelRow = {
  key: string;
  label: number | null;
  frame: number;
  text: string;
  isComplete: boolean;
  time: number | null;
  state: LabelState | "sending" | "taking back";
};

/** Labels on their way, then the server's, newest first. */
export function labelRows(model: Model): LabelRow[] {
  const undone = new Set(model.waiting.flatMap((one) => (one.type === "undo" ? [one.label] : [])));
  const sending = model.waiting.flatMap((one): LabelRow[] => {
    if (one.type !== "label") return [];
    const text = namesText(one.objects.map(({ name }) => name));
    const key = `sending ${one.id}`;
    return [{ key, label: null, frame: one.frame, text, isComplete: one.complete, time: null, state: "sending" }];
  });
  const known = (model.state?.labels ?? []).map((one): LabelRow => {
    const state = undone.has(one.label) ? "taking back" : one.state;
    const { label, frame, time, complete } = one;
    return { key: `label ${label}`, label, frame, text: namesText(one.names), isComplete: complete, time, state };
  });
  return [...sending.reverse(), ...known];
}

function namesText(names: readonly string[]): string {
  return names.length > 0 ? words.listNames(names) : "Nothing here";
}

/**
 * Names to choose from. Those that the person uses come first, so that they get the number keys even if the detector
 * knows eighty others from its start.
 */
export function nameChoices(model: Model): string[] {
  const classes = model.state?.classes ?? [];
  const used = classes.filter((one) => one.labels > 0 || !one.from_start);
  const others = classes.filter((one) => one.labels === 0 && one.from_start);
  const drafted = (currentDraft(model)?.boxes ?? []).map(({ name }) => name);
  const names = [...used, ...others].map(({ name }) => name);
  return [...new Set([...names, ...drafted, model.nextName])].filter((name) => name !== "");
}

/** `2 of 5`: where the current frame stands in the queue. */
export function placeInQueue(model: Model): { place: number; of: number } | null {
  const frames = openRequests(model).map(({ frame }) => frame);
  const place = frames.indexOf(model.current ?? Number.NaN);
  return place === -1 ? null : { place: place + 1, of: frames.length };
}
