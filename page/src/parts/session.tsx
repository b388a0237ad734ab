/** How parts of the page reach the session. */

import { createContext } from "preact";
import { useContext, useEffect, useReducer, useState } from "preact/hooks";
import type { Model } from "../model";
import type { Session } from "../session";

const Current = createContext<Session | null>(null);

export const SessionProvider = Current.Provider;

export function useSession(): Session {
  const session = useContext(Current);
  if (!session) throw new Error("A part of the page stands outside of its session.");
  return session;
}

/** The model; the part is drawn again whenever it changes. */
export function useModel(): Model {
  const session = useSession();
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => session.subscribe(() => redraw(undefined)), [session]);
  return session.model;
}

/** Unix seconds; the part is drawn again every second. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now() / 1000);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now() / 1000), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
