/** Numbers and times as a person reads them. */

const NUMBER = new Intl.NumberFormat("en");

export function countText(count: number): string {
  return NUMBER.format(Math.round(count));
}

/** `1 box`, `2 boxes`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

export function bytesText(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 99.5 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** A span that somebody waits for: `48 ms`, `0.42 s`, `12 s`. */
export function spanText(seconds: number | null): string {
  if (seconds === null || !Number.isFinite(seconds)) return "–";
  if (seconds < 0.0995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 9.95) return `${seconds.toFixed(seconds < 0.995 ? 2 : 1)} s`;
  return durationText(seconds);
}

/** A span that somebody spent: `14 s`, `2 min 14 s`, `1 h 05 min`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
  return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, "0")} min`;
}

/** How long ago something was; both are unix seconds. */
export function agoText(time: number | null, now: number): string {
  if (time === null) return "never";
  const seconds = Math.max(0, now - time);
  if (seconds < 3) return "now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} d ago`;
}

export function clockText(time: number): string {
  return new Date(time * 1000).toLocaleTimeString("en-GB");
}

export function pointsText(ap: number | null): string {
  return ap === null ? "–" : ap.toFixed(1);
}

export function scoreText(score: number): string {
  return `${Math.round(score * 100)}%`;
}

/** Names in a row; those that come twice are counted: `mug ×2, bowl`. */
export function listNames(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => (count === 1 ? name : `${name} ×${count}`)).join(", ");
}
