import { expect, test, vi } from "vitest";
import { Connection, type ConnectionStatus, PAUSES, type Socket } from "../src/connection";

class FakeSocket implements Socket {
  binaryType = "";
  onopen: Socket["onopen"] = null;
  onclose: Socket["onclose"] = null;
  onmessage: Socket["onmessage"] = null;
  sent: string[] = [];
  send(text: string): void {
    this.sent.push(text);
  }
  close(): void {}
}

function makeConnection() {
  const sockets: FakeSocket[] = [];
  const waits: { milliseconds: number; call: () => void }[] = [];
  const statuses: ConnectionStatus[] = [];
  const onText = vi.fn();
  const connection = new Connection(
    {
      open: () => {
        const socket = new FakeSocket();
        sockets.push(socket);
        return socket;
      },
      now: () => 1000,
      after: (milliseconds, call) => {
        waits.push({ milliseconds, call });
        return () => {};
      },
    },
    { onStatus: (status) => statuses.push(status), onText, onBinary: () => {} },
  );
  return { connection, sockets, waits, statuses, onText };
}

test("pauses between tries grow, up to the longest", () => {
  const { connection, sockets, waits } = makeConnection();

  connection.connect();
  for (let tries = 0; tries < 8; tries++) {
    sockets.at(-1)?.onclose?.({ code: 1006 });
    waits.at(-1)?.call();
  }

  expect(waits.map((one) => one.milliseconds)).toEqual([...PAUSES, 15000, 15000]);
});

test("a server that has spoken is tried again at once", () => {
  const { connection, sockets, waits } = makeConnection();

  connection.connect();
  sockets[0]?.onclose?.({ code: 1006 });
  waits[0]?.call();
  sockets[1]?.onmessage?.({ data: "{}" });
  sockets[1]?.onclose?.({ code: 1006 });

  expect(waits.map((one) => one.milliseconds)).toEqual([500, 500]);
});

test("without a token nobody knocks again", () => {
  const { connection, sockets, waits, statuses } = makeConnection();

  connection.connect();
  sockets[0]?.onclose?.({ code: 4401 });

  expect(statuses.at(-1)).toEqual({ kind: "token is missing" });
  expect(waits).toEqual([]);
});

test("nothing is sent while there is no connection", () => {
  const { connection, sockets } = makeConnection();

  connection.connect();
  expect(connection.send({ type: "pause" })).toBe(false);
  sockets[0]?.onopen?.();

  expect(connection.send({ type: "pause" })).toBe(true);
  expect(sockets[0]?.sent).toEqual(['{"type":"pause"}']);
});

test("a person who cannot wait opens no second connection", () => {
  const { connection, sockets } = makeConnection();

  connection.connect();
  connection.connect();

  expect(sockets.length).toBe(1);
});
