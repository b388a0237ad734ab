/** The websocket to the server: opens it, opens it again after growing pauses, and passes on what comes. */

import { TOKEN_IS_MISSING } from "./contract";

export type ConnectionStatus =
  | { kind: "connecting" }
  | { kind: "open" }
  | { kind: "waiting"; until: number }
  | { kind: "token is missing" };

/** The part of a WebSocket that is used. */
export type Socket = {
  binaryType: string;
  onopen: (() => void) | null;
  onclose: ((event: { code: number }) => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  send(text: string): void;
  close(): void;
};

/** Time and the network are passed in, so that tests need neither. */
export type Surroundings = {
  open(): Socket;
  now(): number;
  after(milliseconds: number, call: () => void): () => void;
};

export type Listener = {
  onStatus(status: ConnectionStatus): void;
  onText(text: string): void;
  onBinary(bytes: ArrayBuffer): void;
};

export const PAUSES = [500, 1000, 2000, 4000, 8000, 15000] as const;

export class Connection {
  private socket: Socket | null = null;
  private isOpen = false;
  private failures = 0;
  private stopWaiting: (() => void) | null = null;

  constructor(
    private readonly surroundings: Surroundings,
    private readonly listener: Listener,
  ) {}

  connect(): void {
    this.stopWaiting?.();
    this.stopWaiting = null;
    if (this.socket) return;
    this.listener.onStatus({ kind: "connecting" });
    const socket = this.surroundings.open();
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.isOpen = true;
      this.listener.onStatus({ kind: "open" });
    };
    socket.onmessage = ({ data }) => {
      // Only a server that speaks is a server that is back.
      this.failures = 0;
      if (typeof data === "string") this.listener.onText(data);
      else if (data instanceof ArrayBuffer) this.listener.onBinary(data);
    };
    socket.onclose = ({ code }) => this.lose(code);
  }

  /** False if there is no connection: whoever sends keeps it until there is one. */
  send(message: object): boolean {
    if (!this.isOpen || !this.socket) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  close(): void {
    this.stopWaiting?.();
    if (this.socket) this.socket.onclose = null;
    this.socket?.close();
    this.socket = null;
    this.isOpen = false;
  }

  private lose(code: number): void {
    this.socket = null;
    this.isOpen = false;
    if (code === TOKEN_IS_MISSING) {
      this.listener.onStatus({ kind: "token is missing" });
      return;
    }
    const pause = PAUSES[Math.min(this.failures, PAUSES.length - 1)] ?? 0;
    this.failures += 1;
    this.listener.onStatus({ kind: "waiting", until: this.surroundings.now() + pause });
    this.stopWaiting = this.surroundings.after(pause, () => this.connect());
  }
}
