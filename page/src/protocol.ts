/** Reads what the server sends. A message that breaks the contract is an error, never a guess. */

import type { Acknowledgement, Box, PictureHeader, ServerMessage, State } from "./contract";

/** A message of the server that this page does not understand. */
export class BrokenContract extends Error {}

export type Picture = { header: PictureHeader; jpeg: Blob };

type Fields = Record<string, unknown>;

const OBJECTS_OF_STATE = ["run", "source", "counters"] as const;
const LISTS_OF_STATE = [
  "requests",
  "labels",
  "classes",
  "accuracy",
  "memory",
  "exports",
  "messages",
] as const satisfies readonly (keyof State)[];
const STATUSES = ["learning", "paused", "busy", "ended"];

export function readMessage(text: string): ServerMessage {
  const message = readObject(text);
  if (message.type === "state") return { type: "state", state: readState(message.state) };
  if (message.type === "ack") return readAcknowledgement(message);
  throw new BrokenContract(`The server sent a message of unknown type ${JSON.stringify(message.type)}.`);
}

export function readState(state: unknown): State {
  if (!isObject(state)) throw new BrokenContract("The server sent a state that is not an object.");
  for (const key of OBJECTS_OF_STATE) {
    if (!isObject(state[key])) throw new BrokenContract(`The server's state has no '${key}'.`);
  }
  for (const key of LISTS_OF_STATE) {
    if (!Array.isArray(state[key])) throw new BrokenContract(`The server's state has no list '${key}'.`);
  }
  if (!STATUSES.includes(state.status as string)) {
    throw new BrokenContract(`The server's state has the unknown status ${JSON.stringify(state.status)}.`);
  }
  return state as State;
}

function readAcknowledgement(message: Fields): Acknowledgement {
  if (typeof message.id !== "number") throw new BrokenContract("The server answered a command without its id.");
  if (message.ok === true) return message as Acknowledgement;
  const error = typeof message.error === "string" ? message.error : "The server refused and did not say why.";
  return { type: "ack", id: message.id, ok: false, error };
}

/** A live picture: length of the header in 4 bytes, big endian; the header; a JPEG file. */
export function readPicture(message: ArrayBuffer): Picture {
  if (message.byteLength < 4) throw new BrokenContract("The server sent a picture without a header.");
  const length = new DataView(message).getUint32(0);
  if (4 + length > message.byteLength) throw new BrokenContract("The server sent a picture with half a header.");
  const header = readObject(new TextDecoder().decode(new Uint8Array(message, 4, length)));
  if (typeof header.picture !== "number" || !isSize(header.size)) {
    throw new BrokenContract("The server sent a picture without its number or size.");
  }
  return {
    header: {
      picture: header.picture,
      size: header.size,
      captured: Number(header.captured ?? 0),
      lag: Number(header.lag ?? 0),
      boxes: (header.boxes ?? []) as Box[],
      names: (header.names ?? []) as string[],
      scores: (header.scores ?? []) as number[],
    },
    jpeg: new Blob([message.slice(4 + length)], { type: "image/jpeg" }),
  };
}

function readObject(text: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BrokenContract("The server sent a message that is not JSON.");
  }
  if (!isObject(value)) throw new BrokenContract("The server sent a message that is not an object.");
  return value;
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSize(value: unknown): value is [number, number] {
  return Array.isArray(value) && value.length === 2 && value.every((side) => typeof side === "number" && side > 0);
}
