/** Starts the page. */

import "@annotorious/annotorious/annotorious.css";
import "./style/all.css";
import { render } from "preact";
import type { Socket } from "./connection";
import { listenToKeys } from "./keys";
import { App } from "./parts/app";
import { SessionProvider } from "./parts/session";
import { Session } from "./session";
import { keepIn } from "./storage";

function openSocket(): Socket {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  return new WebSocket(`${scheme}://${location.host}/api/socket`) as unknown as Socket;
}

/** Works where `crypto.randomUUID` does not: on a plain http address of the local network. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function start(): void {
  const session = new Session({
    surroundings: {
      open: openSocket,
      now: () => Date.now(),
      after: (milliseconds, call) => {
        const timer = setTimeout(call, milliseconds);
        return () => clearTimeout(timer);
      },
    },
    windowKeep: keepIn(() => sessionStorage),
    sharedKeep: keepIn(() => localStorage),
    newKey,
    isVisible: () => document.visibilityState === "visible",
  });
  for (const event of ["keydown", "pointerdown", "pointermove", "wheel"]) {
    window.addEventListener(event, () => session.stopwatch.touch(), { passive: true });
  }
  document.addEventListener("visibilitychange", () => session.stopwatch.touch());
  window.addEventListener("pagehide", () => session.save());
  session.subscribe(() => session.save());
  listenToKeys(session);
  const page = document.getElementById("page");
  if (!page) throw new Error("The page has no place for itself.");
  render(
    <SessionProvider value={session}>
      <App />
    </SessionProvider>,
    page,
  );
  session.start();
}

start();
