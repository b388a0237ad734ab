/** Keeps small things in the browser. A browser that keeps nothing (private mode, full disk) is no reason to fail. */

export type Keep = { read(name: string): unknown; write(name: string, value: unknown): void };

export function keepIn(storage: () => Storage, prefix = "leocod"): Keep {
  return {
    read(name) {
      try {
        const text = storage().getItem(`${prefix}:${name}`);
        return text === null ? null : JSON.parse(text);
      } catch {
        return null;
      }
    },
    write(name, value) {
      try {
        storage().setItem(`${prefix}:${name}`, JSON.stringify(value));
      } catch {
        // The page works without it; only a reload would notice.
      }
    },
  };
}

/** For tests. */
export function keepInMemory(values = new Map<string, string>()): Keep {
  return {
    read: (name) => JSON.parse(values.get(name) ?? "null"),
    write: (name, value) => void values.set(name, JSON.stringify(value)),
  };
}
