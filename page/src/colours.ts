/** Every class has a colour that stays: the same name, the same colour. */

/** Each is bright enough for dark letters on it (4.5:1); a test checks that. */
export const PALETTE = [
  "#4dabf7",
  "#ff922b",
  "#51cf66",
  "#ff6b8a",
  "#fcc419",
  "#9d8cff",
  "#22d3ee",
  "#e879f9",
  "#a9e34b",
  "#ff7a59",
  "#2dd4a7",
  "#f9a8d4",
  "#dba979",
  "#93c5fd",
  "#c3c64a",
  "#cfd6df",
] as const;

export const LETTERS_ON_COLOUR = "#0d1117";

/** A box that nobody has named yet. */
export const NO_NAME = "#ffffff";

/** Place in the palette for each name. */
export type ColourPlaces = Readonly<Record<string, number>>;

/**
 * Gives each new name a place: the one that its letters choose, or the next free one if another class has it.
 * Names that have a place keep it.
 */
export function placeColours(names: Iterable<string>, known: ColourPlaces): ColourPlaces {
  const places: Record<string, number> = { ...known };
  const taken = new Set(Object.values(places));
  for (const name of names) {
    if (Object.hasOwn(places, name)) continue;
    let place = hash(name) % PALETTE.length;
    for (let tries = 0; tries < PALETTE.length && taken.has(place); tries++) place = (place + 1) % PALETTE.length;
    places[name] = place;
    taken.add(place);
  }
  return places;
}

export function colourOf(name: string, places: ColourPlaces): string {
  if (name === "") return NO_NAME;
  const place = Object.hasOwn(places, name) ? (places[name] ?? 0) : hash(name) % PALETTE.length;
  return PALETTE[place % PALETTE.length] ?? PALETTE[0];
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value;
}
