/** What page and server say to each other: every type of the contract, and nothing else. */

/** Left, top, right, bottom in pixels of the frame. */
export type Box = readonly [number, number, number, number];

/** Height, width. */
export type Size = readonly [number, number];

export type Proposal = { box: Box; name: string; score: number };

export type LabelRequest = { frame: number; step: number; size: Size; asked: number; proposals: Proposal[] };

export type LabelState = "waiting" | "learnt" | "not learnt" | "kept aside";

export type Label = {
  label: number;
  frame: number;
  names: string[];
  complete: boolean;
  time: number;
  state: LabelState;
};

export type ObjectClass = {
  name: string;
  labels: number;
  boxes: number;
  last_seen: number | null;
  ap: number | null;
  from_start: boolean;
};

export type Accuracy = { step: number; labels: number; ap: number };

export type RememberedFrame = { frame: number; names: string[]; pinned: boolean };

export type Message = { time: number; level: "info" | "warning" | "error"; text: string };

export type Counters = {
  frames_seen: number;
  frames_dropped: number;
  steps_seen: number;
  steps_learned: number;
  steps_dropped: number;
  steps_waiting: number;
  labels: number;
  boxes: number;
  /** Seconds of the person's time. */
  seconds: number;
  step_seconds: number | null;
  lag: number | null;
  memory_bytes: number;
  memory_frames: number;
};

export type RunStatus = "learning" | "paused" | "busy" | "ended";

export type SourceStatus = "running" | "reconnecting" | "ended";

export type State = {
  run: { name: string; directory: string; source: string; detector: string; version: string };
  status: RunStatus;
  activity: string | null;
  source: { status: SourceStatus; message: string | null; fps: number };
  counters: Counters;
  labels_per_step: number;
  /** Oldest first. */
  requests: LabelRequest[];
  /** Newest first. */
  labels: Label[];
  classes: ObjectClass[];
  accuracy: Accuracy[];
  kept_aside: number;
  memory: RememberedFrame[];
  exports: string[];
  /** Newest last. */
  messages: Message[];
};

export type Acknowledgement =
  | { type: "ack"; id: number; ok: true; label?: number; file?: string }
  | { type: "ack"; id: number; ok: false; error: string };

export type ServerMessage = { type: "state"; state: State } | Acknowledgement;

/** What comes before the JPEG file in a binary message. */
export type PictureHeader = {
  picture: number;
  size: Size;
  captured: number;
  lag: number;
  boxes: Box[];
  names: string[];
  scores: number[];
};

export type LabelledObject = { box: Box; name: string };

export type ExportFormat = "onnx" | "torchscript" | "safetensors";

export const EXPORT_FORMATS: readonly ExportFormat[] = ["onnx", "torchscript", "safetensors"];

export type LabelCommand = {
  type: "label";
  frame: number;
  objects: LabelledObject[];
  complete: boolean;
  seconds: number;
  /** The same command sent again is taken once. */
  key: string;
};

/** A command before it has its id. */
export type Command =
  | LabelCommand
  | { type: "skip"; frame: number }
  | { type: "undo"; label?: number }
  | { type: "rename"; name: string; to: string }
  | { type: "merge"; name: string; into: string }
  | { type: "pin"; frame: number; pinned: boolean }
  | { type: "forget"; frame: number }
  | { type: "pause" }
  | { type: "resume" }
  | { type: "checkpoint" }
  | { type: "export"; format: ExportFormat };

export type SentCommand = Command & { id: number };

/** Says that a live picture is drawn; has no id and gets no answer. */
export type Shown = { type: "shown"; picture: number };

/** The websocket is closed with this code when the page has no token. */
export const TOKEN_IS_MISSING = 4401;

export const LONGEST_NAME = 64;
