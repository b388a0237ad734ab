/** What an answer of the server means for the page. */

import type { Acknowledgement, SentCommand } from "./contract";
import { addNotice, givenLabels, type Model, settle, setWaiting } from "./model";
import { listNames } from "./words";

/** Takes in the answer to a command. `waiting` are the commands that still have none. */
export function receiveAnswer(
  model: Model,
  command: SentCommand,
  answer: Acknowledgement,
  waiting: readonly SentCommand[],
): Model {
  if (!answer.ok) return refuse(model, command, answer.error, waiting);
  const isAnswer = command.type === "label" || command.type === "skip";
  const answered = isAnswer ? [...model.answered, command.frame] : model.answered;
  const next = setWaiting({ ...model, answered }, waiting);
  const told = addNotice(next, "done", describe(command, answer), answer.file);
  if (command.type === "label") return take(told, answer.label, command.frame);
  return command.type === "undo" ? reopen(told, command.label ?? answer.label) : told;
}

/** Until a state lists it, the page itself knows that the label is there: it can be taken back at once. */
function take(model: Model, label: number | undefined, frame: number): Model {
  return label === undefined ? model : { ...model, taken: [{ label, frame }, ...model.taken] };
}

function refuse(model: Model, command: SentCommand, error: string, waiting: readonly SentCommand[]): Model {
  const kept = command.type === "undo" ? forgetTaken(model, command.label) : model;
  const next = addNotice(setWaiting(kept, waiting), "error", error);
  // The person sees again what was refused, and can mend it.
  return command.type === "label" ? settle({ ...next, current: command.frame }) : next;
}

/** The frame of a label that was taken back may be asked for again: then its draft is there again. */
function reopen(model: Model, label: number | undefined): Model {
  const frame = givenLabels(model).find((one) => one.label === label)?.frame;
  const next = forgetTaken(model, label);
  if (frame === undefined) return next;
  const draft = model.drafts[frame];
  const drafts = draft ? { ...model.drafts, [frame]: { ...draft, asked: null } } : model.drafts;
  return settle({ ...next, drafts, answered: model.answered.filter((one) => one !== frame), reopened: frame });
}

function forgetTaken(model: Model, label: number | undefined): Model {
  return { ...model, taken: model.taken.filter((one) => one.label !== label) };
}

export function describe(command: SentCommand, answer: { label?: number; file?: string }): string {
  switch (command.type) {
    case "label": {
      const what = command.objects.length > 0 ? listNames(command.objects.map(({ name }) => name)) : "nothing here";
      return answer.label === undefined ? `Label is taken: ${what}.` : `Label ${answer.label} is taken: ${what}.`;
    }
    case "skip":
      return `Frame ${command.frame} is skipped.`;
    case "undo":
      return command.label === undefined ? "The last label is taken back." : `Label ${command.label} is taken back.`;
    case "rename":
      return `${command.name} is called ${command.to} now.`;
    case "merge":
      return `${command.name} belongs to ${command.into} now.`;
    case "pin":
      return command.pinned ? `Frame ${command.frame} is pinned.` : `Frame ${command.frame} is not pinned any more.`;
    case "forget":
      return `Frame ${command.frame} is out of the memory. It leaves the disk at the next checkpoint.`;
    case "pause":
      return "Learning is paused.";
    case "resume":
      return "Learning goes on.";
    case "checkpoint":
      return "A checkpoint is written.";
    case "export":
      return answer.file === undefined ? "The detector is exported." : `${answer.file} is ready.`;
  }
}
