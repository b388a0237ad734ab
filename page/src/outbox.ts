/** Commands that are not acknowledged yet, oldest first. They survive a lost connection and a reload. */

import type { Command, SentCommand } from "./contract";
import type { Keep } from "./storage";

type Kept = { directory: string | null; last: number; commands: SentCommand[] };

export class Outbox {
  private commands: SentCommand[] = [];
  private last = 0;
  /** The run that the commands are meant for. */
  private directory: string | null = null;

  constructor(private readonly keep: Keep) {
    const kept = keep.read("outbox") as Kept | null;
    if (kept && Array.isArray(kept.commands)) {
      this.commands = kept.commands;
      this.last = Number(kept.last) || 0;
      this.directory = kept.directory;
    }
  }

  /** Gives the command its id. */
  add(command: Command): SentCommand {
    this.last += 1;
    const sent = { ...command, id: this.last };
    this.commands.push(sent);
    this.save();
    return sent;
  }

  /** Takes out the command that was answered; none if it was answered before. */
  acknowledge(id: number): SentCommand | undefined {
    const command = this.commands.find((one) => one.id === id);
    this.commands = this.commands.filter((one) => one.id !== id);
    this.save();
    return command;
  }

  waiting(): readonly SentCommand[] {
    return this.commands;
  }

  /** Says which run the server has. Commands for another run are dropped and returned. */
  meet(directory: string): SentCommand[] {
    const dropped = this.directory !== null && this.directory !== directory ? this.commands : [];
    if (dropped.length > 0) this.commands = [];
    this.directory = directory;
    this.save();
    return dropped;
  }

  private save(): void {
    const kept: Kept = { directory: this.directory, last: this.last, commands: this.commands };
    this.keep.write("outbox", kept);
  }
}
