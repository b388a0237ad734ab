/** A made-up run that answers commands as the contract says. Only for development. */

import { makeAccuracy, makeClasses, makeCrowd, makeMessages } from "./past.mjs";
import { drawJpeg, HEIGHT, thingsAt, thingsOf, WIDTH } from "./pictures.mjs";

const seconds = () => Date.now() / 1000;

/** `scenario`: busy (default), empty, fresh (nothing yet), first (the first frame is asked for), crowded, paused, lost, taking-back, ended. */
export class Run {
  constructor(scenario = "busy") {
    this.scenario = scenario;
    this.started = seconds();
    this.frames = new Map();
    this.keys = new Map();
    this.nextFrame = 1042;
    this.nextLabel = 25;
    this.changed = true;
    this.commands = [];
    this.status = scenario === "paused" ? "paused" : scenario === "ended" ? "ended" : "learning";
    this.activity = null;
    this.lost = scenario === "lost";
    if (scenario === "taking-back") {
      this.status = "busy";
      this.activity = "Label 24 is being taken back: step 310 of 352 is learnt again.";
    }
    this.isNew = scenario === "fresh" || scenario === "first";
    this.classes = this.isNew ? [] : makeClasses();
    this.requests = [];
    this.labels = [];
    this.memory = [];
    this.exports = this.isNew ? [] : ["kitchen-step-300.safetensors"];
    this.accuracy = this.isNew ? [] : makeAccuracy();
    this.messages = makeMessages(scenario);
    if (scenario === "crowded") this.classes.push(...makeCrowd());
    if (!this.isNew) this.fillMemory();
    const asked = { empty: 0, fresh: 0, first: 1, ended: 0, crowded: 16 }[scenario] ?? 6;
    for (let index = 0; index < asked; index++) this.ask();
  }

  /** The time in the made-up world: stands still in tests if `MOCK_STILL` is set. */
  clock() {
    return process.env.MOCK_STILL ? 40 : seconds() - this.started + 40;
  }

  keepFrame() {
    this.nextFrame += 7;
    const things = thingsOf(this.nextFrame);
    this.frames.set(this.nextFrame, { things, jpeg: null });
    return { frame: this.nextFrame, things };
  }

  jpegOf(frame) {
    const kept = this.frames.get(frame);
    if (!kept) return null;
    kept.jpeg ??= drawJpeg(kept.things);
    return kept.jpeg;
  }

  ask() {
    const { frame, things } = this.keepFrame();
    const proposals = things
      .filter((thing) => thing.name !== "plant" && !this.isNew)
      .map(({ name, box }, index) => ({
        name: this.rename(name),
        box: wobble(box, index),
        score: 0.93 - 0.14 * index,
      }));
    const step = Math.round(frame / 4);
    this.requests.push({ frame, step, size: [HEIGHT, WIDTH], asked: seconds() - 8, proposals });
    this.requests = this.requests.slice(-16);
    this.changed = true;
  }

  /** In a crowd, names are long. */
  rename(name) {
    return this.scenario === "crowded" && name === "book" ? this.classes[6].name : name;
  }

  fillMemory() {
    for (let index = 0; index < 26; index++) {
      const { frame, things } = this.keepFrame();
      this.memory.push({ frame, names: things.map(({ name }) => name), pinned: index % 9 === 2 });
    }
    const states = ["waiting", "learnt", "kept aside", "learnt", "learnt", "learnt", "kept aside", "learnt"];
    states.forEach((state, index) => {
      const { frame, names } = this.memory[index];
      const label = this.nextLabel - 1 - index;
      this.labels.push({ label, frame, names, complete: index !== 3, time: seconds() - 11 - 19 * index, state });
    });
  }

  state() {
    const isFresh = this.isNew;
    return {
      run: { name: "kitchen", directory: "runs/kitchen", source: "camera 0", detector: "tiny", version: "0.9.0" },
      status: this.status,
      activity: this.activity,
      source: {
        status: this.lost ? "reconnecting" : this.scenario === "ended" ? "ended" : "running",
        message: this.lost ? "Camera 0 gives no frames. leocod tries again every 5 s." : null,
        fps: this.lost ? 0 : 14.8,
      },
      counters: this.counters(isFresh),
      labels_per_step: 1,
      requests: this.requests,
      labels: this.labels.slice(0, 20),
      classes: this.classes,
      accuracy: this.accuracy,
      kept_aside: isFresh ? 0 : 6,
      memory: this.memory,
      exports: this.exports,
      messages: this.messages,
    };
  }

  counters(isFresh) {
    const labels = isFresh ? this.labels.length : 16 + this.labels.length;
    const frames = isFresh ? 120 : 5208 + Math.round((seconds() - this.started) * 14);
    return {
      frames_seen: frames,
      frames_dropped: isFresh ? 0 : 31,
      steps_seen: Math.round(frames / 16),
      steps_learned: Math.round(frames / 17),
      steps_dropped: 2,
      steps_waiting: 1,
      labels,
      boxes: Math.round(labels * 2.6),
      seconds: labels * 6.3,
      step_seconds: isFresh ? null : 0.412,
      lag: isFresh ? null : 0.118,
      memory_bytes: this.memory.length * 131072 * 1.13,
      memory_frames: this.memory.length,
    };
  }

  picture(number) {
    const things = thingsAt(this.clock());
    const seen = things.filter((thing) => this.classes.some(({ name }) => name === thing.name));
    const header = {
      picture: number,
      size: [HEIGHT, WIDTH],
      captured: seconds() - 0.09,
      lag: 0.094,
      boxes: seen.map(({ box }, index) => wobble(box, index + number / 9)),
      names: seen.map(({ name }) => name),
      scores: seen.map((_, index) => 0.95 - 0.11 * index),
    };
    const head = Buffer.from(JSON.stringify(header));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(head.length);
    return Buffer.concat([length, head, drawJpeg(things, 0.75, 78)]);
  }

  /** Answers a command. */
  answer(command) {
    this.commands.push(command);
    this.changed = true;
    const act = this[`on_${command.type}`];
    const result = act ? act.call(this, command) : `The command '${command.type}' is unknown.`;
    return typeof result === "string"
      ? { type: "ack", id: command.id, ok: false, error: result }
      : { type: "ack", id: command.id, ok: true, ...result };
  }

  on_label({ frame, objects, complete, key }) {
    if (this.keys.has(key)) return { label: this.keys.get(key) };
    if (!this.requests.some((one) => one.frame === frame)) return `Frame ${frame} is not asked for.`;
    if (objects.some(({ name }) => name === "refuse me")) return "The name 'refuse me' is refused. Choose another one.";
    const label = this.nextLabel++;
    this.keys.set(key, label);
    this.requests = this.requests.filter((one) => one.frame !== frame);
    const names = objects.map(({ name }) => name);
    for (const name of names) this.countClass(name);
    this.labels.unshift({ label, frame, names, complete, time: seconds(), state: "waiting" });
    setTimeout(() => this.learn(label), 2500);
    return { label };
  }

  countClass(name) {
    const known = this.classes.find((one) => one.name === name);
    if (known) {
      known.labels += 1;
      known.boxes += 1;
    } else {
      this.classes.push({ name, labels: 1, boxes: 1, last_seen: null, ap: null, from_start: false });
    }
  }

  learn(number) {
    const label = this.labels.find((one) => one.label === number);
    if (label) label.state = number % 5 === 0 ? "kept aside" : "learnt";
    this.changed = true;
  }

  on_skip({ frame }) {
    this.requests = this.requests.filter((one) => one.frame !== frame);
    return {};
  }

  on_undo({ label }) {
    const place = label === undefined ? 0 : this.labels.findIndex((one) => one.label === label);
    const taken = this.labels[place];
    if (!taken) return `Label ${label} is not there any more.`;
    this.labels.splice(place, 1);
    const proposals = this.frames.get(taken.frame).things.map(({ name, box }) => ({ name, box, score: 0.8 }));
    this.requests.unshift({ frame: taken.frame, step: 1, size: [HEIGHT, WIDTH], asked: seconds(), proposals });
    return {};
  }

  on_rename({ name, to }) {
    const found = this.classes.find((one) => one.name === name);
    if (!found) return `There is no class '${name}'.`;
    found.name = to;
    return {};
  }

  on_merge({ name, into }) {
    const target = this.classes.find((one) => one.name === into);
    if (!target) return `There is no class '${into}'.`;
    this.classes = this.classes.filter((one) => one.name !== name);
    return {};
  }

  on_pin({ frame, pinned }) {
    const found = this.memory.find((one) => one.frame === frame);
    if (!found) return `Frame ${frame} is not in the memory.`;
    found.pinned = pinned;
    return {};
  }

  on_forget({ frame }) {
    this.memory = this.memory.filter((one) => one.frame !== frame);
    return {};
  }

  on_pause() {
    this.status = "paused";
    return {};
  }

  on_resume() {
    this.status = "learning";
    return {};
  }

  on_checkpoint() {
    this.messages.push({ time: seconds(), level: "info", text: "Checkpoint of step 327 is written." });
    return {};
  }

  on_export({ format }) {
    const file = `kitchen-step-327.${format}`;
    if (!this.exports.includes(file)) this.exports.push(file);
    return { file };
  }
}

/** Detections are never quite right. */
function wobble([x1, y1, x2, y2], by) {
  const d = 4 * Math.sin(by * 2.3 + 1);
  const box = [x1 - 3 + d, y1 - 4 - d, x2 + 5 - d, y2 + 3 + d];
  return box.map((value, index) => Math.round(Math.max(0, Math.min(value, index % 2 ? HEIGHT : WIDTH)) * 10) / 10);
}
