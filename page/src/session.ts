/** Holds the model, speaks with the server, and keeps on disk what must not be lost. */

import { receiveAnswer } from "./answers";
import { Connection, type ConnectionStatus, type Surroundings } from "./connection";
import type { Acknowledgement, Command, ExportFormat, LabelledObject } from "./contract";
import { objectsOf, packDraft, unnamedBox, unpackDraft } from "./drafts";
import * as models from "./model";
import { Outbox } from "./outbox";
import { BrokenContract, type Picture, readMessage, readPicture } from "./protocol";
import { Stopwatch } from "./stopwatch";
import type { Keep } from "./storage";
import { plural } from "./words";

type Change = (model: models.Model) => models.Model;

export type SessionParts = {
  surroundings: Surroundings;
  /** For this window: drafts and commands. */
  windowKeep: Keep;
  /** For all windows: theme and colours. */
  sharedKeep: Keep;
  newKey(): string;
  isVisible(): boolean;
};

export class Session {
  model: models.Model;
  private readonly connection: Connection;
  private readonly outbox: Outbox;
  /** For whoever begins to draw before the next one comes. */
  lastPicture: Picture | null = null;
  readonly stopwatch: Stopwatch;
  private readonly listeners = new Set<() => void>();
  private readonly pictureListeners = new Set<(picture: Picture) => void>();
  /** Nothing is sent before the server has said which run it has. */
  private hasMet = false;
  private run: string | null = null;
  /** Keys of labels that are to be taken back as soon as they have a number. */
  private readonly unwanted = new Set<string>();

  constructor(private readonly parts: SessionParts) {
    const theme = parts.sharedKeep.read("theme");
    this.model = models.startModel(theme === "light" || theme === "dark" ? theme : "system");
    this.outbox = new Outbox(parts.windowKeep);
    this.model = { ...this.model, waiting: [...this.outbox.waiting()] };
    this.stopwatch = new Stopwatch(parts.surroundings.now, parts.isVisible);
    this.connection = new Connection(parts.surroundings, {
      onStatus: (status) => this.noteStatus(status),
      onText: (text) => this.receiveText(text),
      onBinary: (bytes) => this.receivePicture(bytes),
    });
  }

  start(): void {
    this.connection.connect();
  }

  retry(): void {
    this.connection.connect();
  }

  stop(): void {
    this.save();
    this.connection.close();
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Calls with every live picture. Whoever listens draws it; `tellShown` asks for the next one. */
  onPicture(listener: (picture: Picture) => void): () => void {
    this.pictureListeners.add(listener);
    return () => this.pictureListeners.delete(listener);
  }

  tellShown(picture: number): void {
    this.connection.send({ type: "shown", picture });
  }

  change(change: Change): void {
    const before = this.model;
    this.model = change(before);
    if (this.model === before) return;
    if (this.model.theme !== before.theme) this.parts.sharedKeep.write("theme", this.model.theme);
    if (this.model.colours !== before.colours) this.parts.sharedKeep.write(`colours ${this.run}`, this.model.colours);
    this.stopwatch.watch(this.model.view === "label" ? this.model.current : null);
    for (const listener of this.listeners) listener();
  }

  notice(level: models.Notice["level"], text: string): void {
    this.change((model) => models.addNotice(model, level, text));
  }

  newKey(): string {
    return this.parts.newKey();
  }

  // Commands

  send(command: Command): void {
    const sent = this.outbox.add(command);
    if (this.hasMet) this.connection.send(sent);
    this.change((model) => models.setWaiting(model, this.outbox.waiting()));
  }

  /** Sends the boxes as they are. False if one has no name yet: it is picked, so that it can be named. */
  accept(): boolean {
    const draft = models.currentDraft(this.model);
    if (!draft) return true;
    const unnamed = unnamedBox(draft);
    if (unnamed) {
      this.change((model) =>
        models.addNotice(
          { ...model, selected: unnamed.id },
          "warning",
          "A box has no name. Press a number or E to name it, or Delete to remove it.",
        ),
      );
      return false;
    }
    this.sendLabel(draft.frame, objectsOf(draft), draft.complete);
    return true;
  }

  nothingHere(): void {
    if (this.model.current !== null) this.sendLabel(this.model.current, [], true);
  }

  private sendLabel(frame: number, objects: LabelledObject[], complete: boolean): void {
    const seconds = Math.round(this.stopwatch.take(frame) * 10) / 10;
    this.send({ type: "label", frame, objects, complete, seconds, key: this.parts.newKey() });
  }

  skip(): void {
    if (this.model.current !== null) this.send({ type: "skip", frame: this.model.current });
  }

  /**
   * Takes back the newest label. It is always named: sent twice, a nameless undo would take back two.
   * A label that has no number yet is taken back when it has one.
   */
  undo(): void {
    const onItsWay = this.outbox.waiting().findLast((one) => one.type === "label" && !this.unwanted.has(one.key));
    if (onItsWay?.type === "label") {
      this.unwanted.add(onItsWay.key);
      this.notice("info", `The label of frame ${onItsWay.frame} is taken back as soon as it has arrived.`);
      return;
    }
    const [newest] = models.givenLabels(this.model);
    if (newest) this.undoLabel(newest.label);
    else this.notice("info", "There is no label to take back.");
  }

  undoLabel(label: number): void {
    this.send({ type: "undo", label });
  }

  pauseOrResume(): void {
    this.send({ type: this.model.state?.status === "paused" ? "resume" : "pause" });
  }

  exportAs(format: ExportFormat): void {
    this.send({ type: "export", format });
    this.notice("info", "The detector is being exported. This may take some seconds.");
  }

  // What the server says

  private noteStatus(status: ConnectionStatus): void {
    this.hasMet = false;
    this.change((model) => ({ ...model, connection: status }));
  }

  private receiveText(text: string): void {
    const message = this.understand(() => readMessage(text));
    if (message?.type === "ack") this.receiveAck(message);
    if (message?.type !== "state") return;
    if (!this.hasMet) this.meet(message.state.run.directory);
    this.change((model) => models.receiveState(model, message.state));
  }

  /** A message that breaks the contract is shown as such; the page goes on. */
  private understand<T>(read: () => T): T | null {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof BrokenContract)) throw error;
      this.change((model) => ({ ...model, misunderstanding: error.message }));
      return null;
    }
  }

  /** The server has said which run it has: what waited for this run is sent again, with the same ids and keys. */
  private meet(run: string): void {
    const dropped = this.outbox.meet(run);
    if (this.run !== run) this.restore(run);
    this.change((model) => ({ ...model, waiting: [...this.outbox.waiting()] }));
    if (dropped.length > 0) {
      this.notice(
        "warning",
        `This is another run: ${plural(dropped.length, "command")} for the old one cannot be sent.`,
      );
    }
    this.hasMet = true;
    for (const command of this.outbox.waiting()) this.connection.send(command);
  }

  private receiveAck(answer: Acknowledgement): void {
    const command = this.outbox.acknowledge(answer.id);
    if (!command) return;
    this.change((model) => receiveAnswer(model, command, answer, this.outbox.waiting()));
    if (command.type === "label" && this.unwanted.delete(command.key) && answer.ok && answer.label !== undefined) {
      this.undoLabel(answer.label);
    }
  }

  private receivePicture(bytes: ArrayBuffer): void {
    const picture = this.understand(() => readPicture(bytes));
    if (!picture) return;
    this.lastPicture = picture;
    // Without anybody to draw it, the stream must not stop.
    if (this.pictureListeners.size === 0) this.tellShown(picture.header.picture);
    for (const listener of this.pictureListeners) listener(picture);
  }

  // Over a reload

  save(): void {
    if (this.run === null) return;
    const { drafts, nextName, current } = this.model;
    const touched = Object.values(drafts).filter((draft) => draft.touched);
    this.parts.windowKeep.write(`drafts ${this.run}`, { drafts: touched.map(packDraft), nextName, current });
  }

  private restore(run: string): void {
    const kept = (this.parts.windowKeep.read(`drafts ${run}`) ?? {}) as Record<string, unknown>;
    const list = Array.isArray(kept.drafts) ? kept.drafts : [];
    const drafts = Object.fromEntries(list.flatMap((one) => unpackDraft(one) ?? []).map((one) => [one.frame, one]));
    const colours = (this.parts.sharedKeep.read(`colours ${run}`) ?? {}) as Record<string, number>;
    this.run = run;
    this.change((model) => ({
      ...model,
      drafts,
      colours,
      nextName: typeof kept.nextName === "string" ? kept.nextName : "",
      current: typeof kept.current === "number" ? kept.current : null,
    }));
  }
}
