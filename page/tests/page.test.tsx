// @vitest-environment happy-dom

import { render } from "preact";
import { act } from "preact/test-utils";
import { beforeEach, expect, test } from "vitest";
import type { Socket } from "../src/connection";
import type { State } from "../src/contract";
import { App } from "../src/parts/app";
import { matchName } from "../src/parts/names";
import { SessionProvider } from "../src/parts/session";
import { Session } from "../src/session";
import { keepInMemory } from "../src/storage";
import { makeLabel, makeState } from "./samples";

let socket: Socket;
let session: Session;
let page: HTMLElement;

beforeEach(async () => {
  page = document.createElement("div");
  document.body.replaceChildren(page);
  session = new Session({
    surroundings: {
      open: () => {
        socket = { binaryType: "", onopen: null, onclose: null, onmessage: null, send: () => {}, close: () => {} };
        return socket;
      },
      now: () => 0,
      after: () => () => {},
    },
    windowKeep: keepInMemory(),
    sharedKeep: keepInMemory(),
    newKey: () => "key",
    isVisible: () => true,
  });
  await act(() =>
    render(
      <SessionProvider value={session}>
        <App />
      </SessionProvider>,
      page,
    ),
  );
});

async function receive(state: State): Promise<void> {
  await act(() => {
    session.start();
    socket.onopen?.();
    socket.onmessage?.({ data: JSON.stringify({ type: "state", state }) });
  });
}

const text = (id: string) => page.querySelector(`[data-testid="${id}"]`)?.textContent;

test("before the server answers, the page says that it connects", () => {
  expect(text("status")).toBe("Connecting");
});

test("the frame that wants a label is shown with its boxes and its place in the queue", async () => {
  await receive(makeState());

  expect(text("frame-title")).toBe("Frame 1");
  expect(text("place")).toBe("1 of 2");
  expect(text("boxes")).toBe("mug90%");
  expect(page.querySelectorAll('[data-testid="queue"] li').length).toBe(2);
});

test("without a request the live picture has the large place", async () => {
  await receive(makeState({ requests: [] }));

  expect(text("empty-queue")).toContain("No frame wants a label now");
  expect(page.querySelectorAll('[data-testid="live-picture"]').length).toBe(1);
});

test("names are set as text, never as HTML", async () => {
  const name = "<img src=x onerror=alert(1)>";
  await receive(makeState({ labels: [{ ...makeLabel(3, 9), names: [name] }] }));

  expect(text("label-3")).toContain(name);
  expect(page.querySelector("img[src=x]")).toBeNull();
});

test("each view shows its own things", async () => {
  await receive(makeState({ memory: [{ frame: 8, names: ["mug"], pinned: true }] }));

  await act(() => session.change((model) => ({ ...model, view: "classes" })));
  expect(text("classes")).toContain("mug");
  await act(() => session.change((model) => ({ ...model, view: "memory" })));
  expect(text("memory-8")).toContain("frame 8");
  await act(() => session.change((model) => ({ ...model, view: "accuracy" })));
  expect(page.textContent).toContain("No measurement yet");
  await act(() => session.change((model) => ({ ...model, view: "messages" })));
  expect(page.textContent).toContain("No message yet");
});

test("every control has a name", async () => {
  await receive(makeState({ labels: [makeLabel(3, 9)], memory: [{ frame: 8, names: [], pinned: false }] }));
  const nameless: string[] = [];
  for (const view of ["label", "classes", "memory", "accuracy", "messages"] as const) {
    await act(() => session.change((model) => ({ ...model, view })));
    for (const control of page.querySelectorAll("button, input, select, a")) {
      const words = control.getAttribute("aria-label") ?? control.closest("label, button, a")?.textContent ?? "";
      if (words.trim() === "") nameless.push(control.outerHTML);
    }
  }

  expect(nameless).toEqual([]);
});

test("an old name in other letters is the old name", () => {
  expect(matchName(" MUG ", ["mug"])).toBe("mug");
  expect(matchName("Mug", ["mug", "Mug"])).toBe("Mug");
  expect(matchName("spoon", ["mug"])).toBe("spoon");
});
