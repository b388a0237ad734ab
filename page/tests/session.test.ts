import { beforeEach, expect, test } from "vitest";
import type { Socket } from "../src/connection";
import type { SentCommand, State } from "../src/contract";
import * as editing from "../src/editing";
import { currentDraft, openRequests } from "../src/model";
import { Session } from "../src/session";
import { keepInMemory } from "../src/storage";
import { makeLabel, makeRequest, makeState } from "./samples";

/** A server in the same room: what the page sends is in `received`. */
class FakeServer {
  sockets: Socket[] = [];
  received: SentCommand[] = [];
  time = 0;
  private waiting: (() => void)[] = [];
  private keys = 0;

  session(windowKeep = keepInMemory(), sharedKeep = keepInMemory()): Session {
    const session = new Session({
      surroundings: {
        open: () => this.open(),
        now: () => this.time,
        after: (_milliseconds, call) => {
          this.waiting.push(call);
          return () => {};
        },
      },
      windowKeep,
      sharedKeep,
      newKey: () => `key ${++this.keys}`,
      isVisible: () => true,
    });
    session.start();
    return session;
  }

  private open(): Socket {
    const socket: Socket = {
      binaryType: "",
      onopen: null,
      onclose: null,
      onmessage: null,
      send: (text) => void this.received.push(JSON.parse(text)),
      close: () => {},
    };
    this.sockets.push(socket);
    return socket;
  }

  say(message: object, socket = this.sockets.at(-1)): void {
    socket?.onmessage?.({ data: JSON.stringify(message) });
  }

  greet(state: State = makeState()): void {
    this.sockets.at(-1)?.onopen?.();
    this.say({ type: "state", state });
  }

  hangUp(): void {
    this.sockets.at(-1)?.onclose?.({ code: 1006 });
    for (const call of this.waiting.splice(0)) call();
  }
}

let server: FakeServer;
beforeEach(() => {
  server = new FakeServer();
});

test("accepting sends the detections as they are, and goes on to the next frame", () => {
  const session = server.session();
  server.greet();
  server.time = 4200;

  session.accept();

  expect(server.received).toEqual([
    {
      type: "label",
      id: 1,
      frame: 1,
      objects: [{ box: [10, 20, 50, 60], name: "mug" }],
      complete: true,
      seconds: 4.2,
      key: "key 1",
    },
  ]);
  expect(session.model.current).toBe(2);
});

test("nothing here is a complete label without objects", () => {
  const session = server.session();
  server.greet();

  session.nothingHere();

  expect(server.received[0]).toMatchObject({ type: "label", objects: [], complete: true });
});

test("a label without an answer is sent again after a reconnect, with the same id and key", () => {
  const session = server.session();
  server.greet();
  session.accept();

  server.hangUp();
  server.greet();

  expect(server.received.length).toBe(2);
  expect(server.received[1]).toEqual(server.received[0]);
});

test("what was answered is not sent again", () => {
  const session = server.session();
  server.greet();
  session.accept();
  server.say({ type: "ack", id: 1, ok: true, label: 9 });

  server.hangUp();
  server.greet();

  expect(server.received.length).toBe(1);
  expect(session.model.notices.at(-1)?.text).toBe("Label 9 is taken: mug.");
});

test("what is done without a connection is sent in order when there is one", () => {
  const session = server.session();
  server.greet();
  server.hangUp();

  session.accept();
  session.skip();
  expect(server.received).toEqual([]);
  server.greet();

  expect(server.received.map(({ type, id }) => [type, id])).toEqual([
    ["label", 1],
    ["skip", 2],
  ]);
});

test("nothing is sent before the server has said which run it has", () => {
  const session = server.session();
  server.greet();
  server.hangUp();
  server.sockets.at(-1)?.onopen?.();

  session.accept();

  expect(server.received).toEqual([]);
});

test("commands for one run are never sent to another", () => {
  const session = server.session();
  server.greet();
  server.hangUp();
  session.accept();

  const other = makeState();
  server.greet({ ...other, run: { ...other.run, directory: "runs/garden" } });

  expect(server.received).toEqual([]);
  expect(session.model.notices.at(-1)?.text).toContain("another run");
});

test("a command without an answer survives a reload", () => {
  const keep = keepInMemory();
  const session = server.session(keep);
  server.greet();
  session.accept();

  server.session(keep);
  server.greet();

  expect(server.received[1]).toEqual(server.received[0]);
});

test("ids go on growing after a reload", () => {
  const keep = keepInMemory();
  const session = server.session(keep);
  server.greet();
  session.accept();
  server.say({ type: "ack", id: 1, ok: true, label: 1 });

  const again = server.session(keep);
  server.greet();
  again.skip();

  expect(server.received.at(-1)?.id).toBe(2);
});

test("a draft survives a reload", () => {
  const keep = keepInMemory();
  const session = server.session(keep);
  server.greet();
  session.change((model) => editing.addBox(model, "new", [1, 2, 30, 40]));
  session.change((model) => editing.nameSelected(model, "spoon"));
  session.save();

  const again = server.session(keep);
  server.greet();

  expect(currentDraft(again.model)?.boxes.map(({ name }) => name)).toEqual(["mug", "spoon"]);
});

test("a draft is not used for another frame that has the same number", () => {
  const keep = keepInMemory();
  const session = server.session(keep);
  server.greet();
  session.change((model) => editing.addBox(model, "new", [1, 2, 30, 40]));
  session.save();

  const again = server.session(keep);
  server.greet(makeState({ requests: [makeRequest(1, { asked: 5000 })] }));

  expect(currentDraft(again.model)?.boxes.length).toBe(1);
});

test("a frame that another window has labelled goes away, and an open draft is not lost without a word", () => {
  const session = server.session();
  server.greet();
  session.change((model) => editing.addBox(model, "new", [1, 2, 30, 40]));

  server.say({ type: "state", state: makeState({ requests: [makeRequest(2)], labels: [makeLabel(9, 1)] }) });

  expect(openRequests(session.model).map(({ frame }) => frame)).toEqual([2]);
  expect(session.model.current).toBe(2);
  expect(session.model.notices.at(-1)).toMatchObject({ level: "info" });
  expect(session.model.notices.at(-1)?.text).toContain("labelled in another window");
});

test("one's own label brings no such word", () => {
  const session = server.session();
  server.greet();
  session.change((model) => editing.addBox(model, "new", [1, 2, 30, 40]));
  session.change((model) => editing.nameSelected(model, "spoon"));
  session.accept();

  server.say({ type: "state", state: makeState({ requests: [makeRequest(2)], labels: [makeLabel(9, 1)] }) });

  expect(session.model.notices).toEqual([]);
});

test("a refused label comes back with its draft and the server's sentence", () => {
  const session = server.session();
  server.greet();
  session.change((model) => editing.addBox(model, "new", [1, 2, 30, 40]));
  session.change((model) => editing.nameSelected(model, "spoon"));
  session.accept();

  server.say({ type: "ack", id: 1, ok: false, error: "The name 'spoon' is refused." });

  expect(session.model.current).toBe(1);
  expect(currentDraft(session.model)?.boxes.length).toBe(2);
  expect(session.model.notices.at(-1)).toMatchObject({ level: "error", text: "The name 'spoon' is refused." });
});

test("a box without a name is not sent", () => {
  const session = server.session();
  server.greet();
  session.change((model) => editing.addBox(model, "new", [1, 2, 30, 40]));
  session.change((model) => editing.selectBox(model, null));

  expect(session.accept()).toBe(false);
  expect(server.received).toEqual([]);
  expect(session.model.selected).toBe("new");
});

test("undo names the newest label, so that it can be sent twice", () => {
  const session = server.session();
  server.greet(makeState({ labels: [makeLabel(9, 5), makeLabel(8, 4)] }));

  session.undo();
  session.undo();

  expect(server.received).toEqual([
    { type: "undo", id: 1, label: 9 },
    { type: "undo", id: 2, label: 8 },
  ]);
});

test("a label that is on its way is taken back when it has its number", () => {
  const session = server.session();
  server.greet(makeState({ labels: [makeLabel(8, 4)] }));
  session.accept();

  session.undo();
  expect(server.received.length).toBe(1);
  server.say({ type: "ack", id: 1, ok: true, label: 9 });

  expect(server.received[1]).toEqual({ type: "undo", id: 2, label: 9 });
});

test("a label that no state lists yet is the one that is taken back", () => {
  const session = server.session();
  server.greet(makeState({ labels: [makeLabel(8, 4)] }));
  session.accept();
  server.say({ type: "ack", id: 1, ok: true, label: 9 });
  // It was on its way when the label came.
  server.say({ type: "state", state: makeState({ labels: [makeLabel(8, 4)] }) });

  session.undo();
  server.say({ type: "ack", id: 2, ok: true });
  session.undo();

  expect(server.received.slice(1)).toEqual([
    { type: "undo", id: 2, label: 9 },
    { type: "undo", id: 3, label: 8 },
  ]);
});

test("a label that another window took back before a state listed it is asked for once", () => {
  const session = server.session();
  server.greet(makeState({ labels: [makeLabel(8, 4)] }));
  session.accept();
  server.say({ type: "ack", id: 1, ok: true, label: 9 });

  session.undo();
  server.say({ type: "ack", id: 2, ok: false, error: "There is no such label to take back." });
  session.undo();

  expect(server.received[2]).toEqual({ type: "undo", id: 3, label: 8 });
});

test("when a label is taken back and its frame is asked for again, its draft is there again", () => {
  const session = server.session();
  server.greet();
  session.change((model) => editing.addBox(model, "new", [1, 2, 30, 40]));
  session.change((model) => editing.nameSelected(model, "spoon"));
  session.accept();
  server.say({ type: "ack", id: 1, ok: true, label: 9 });
  server.say({ type: "state", state: makeState({ requests: [], labels: [makeLabel(9, 1)] }) });

  session.undo();
  server.say({ type: "ack", id: 2, ok: true });
  const requests = [makeRequest(2), makeRequest(1, { asked: 7777 })];
  server.say({ type: "state", state: makeState({ requests }) });

  expect(currentDraft(session.model)?.boxes.map(({ name }) => name)).toEqual(["mug", "spoon"]);
});

test("a state that was on its way does not bring an answered frame back", () => {
  const session = server.session();
  server.greet();
  session.accept();
  server.say({ type: "ack", id: 1, ok: true, label: 9 });

  server.say({ type: "state", state: makeState() });

  expect(openRequests(session.model).map(({ frame }) => frame)).toEqual([2]);
});

test("a message that breaks the contract is shown, and the page goes on", () => {
  const session = server.session();
  server.greet();

  server.say({ type: "song" });
  expect(session.model.misunderstanding).toContain("unknown type");
  server.say({ type: "state", state: makeState() });

  expect(session.model.misunderstanding).toBeNull();
});

test("the theme is remembered for all windows", () => {
  const shared = keepInMemory();
  const session = server.session(keepInMemory(), shared);
  session.change((model) => ({ ...model, theme: "dark" }));

  expect(server.session(keepInMemory(), shared).model.theme).toBe("dark");
});

test("pictures are asked for one by one, even if nobody draws them", () => {
  const session = server.session();
  server.greet();
  const head = new TextEncoder().encode(JSON.stringify({ picture: 3, size: [10, 10] }));
  const bytes = new Uint8Array(4 + head.length);
  new DataView(bytes.buffer).setUint32(0, head.length);
  bytes.set(head, 4);

  server.sockets[0]?.onmessage?.({ data: bytes.buffer });

  expect(server.received).toEqual([{ type: "shown", picture: 3 }]);
  expect(session.lastPicture?.header.picture).toBe(3);
});
