import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { colourOf, LETTERS_ON_COLOUR, PALETTE, placeColours } from "../src/colours";

function luminance(colour: string): number {
  const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255);
  const [red, green, blue] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0);
}

function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

test("names can be read on every colour of the palette", () => {
  expect(PALETTE.filter((colour) => contrast(colour, LETTERS_ON_COLOUR) < 4.5)).toEqual([]);
});

test("the same name has the same colour, whoever else is there", () => {
  const places = placeColours(["mug", "cup"], {});

  expect(placeColours(["bowl", "cup", "mug"], places)).toMatchObject(places);
  expect(colourOf("mug", placeColours(["mug"], {}))).toBe(colourOf("mug", {}));
});

test("as long as there are colours, no two names share one", () => {
  const names = Array.from({ length: PALETTE.length }, (_, index) => `thing ${index}`);

  expect(new Set(Object.values(placeColours(names, {}))).size).toBe(PALETTE.length);
});

test("more names than colours are no problem, nor are strange ones", () => {
  const names = [...Array.from({ length: 40 }, (_, index) => `thing ${index}`), "__proto__", "constructor", "☕"];

  const places = placeColours(names, {});

  expect(names.filter((name) => !colourOf(name, places).startsWith("#"))).toEqual([]);
});

const TOKENS = readFileSync(new URL("../src/style/tokens.css", import.meta.url), "utf8");

function token(name: string, scheme: "light" | "dark"): string {
  const match = new RegExp(`--${name}:\\s*light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(TOKENS);
  return (scheme === "light" ? match?.[1] : match?.[2]) ?? "#none";
}

const READ_ON = [
  ["text", ["ground", "card", "card-raised", "accent-soft", "warning-soft", "bad-soft", "stage"]],
  ["muted", ["ground", "card", "card-raised", "stage"]],
  ["accent", ["card", "card-raised"]],
  ["accent-strong", ["card", "accent-soft"]],
  ["on-accent", ["accent", "accent-strong", "bad"]],
  ["good", ["card", "card-raised"]],
  ["warning", ["card", "warning-soft"]],
  ["bad", ["card", "bad-soft"]],
] as const;

test.each(["light", "dark"] as const)("words can be read on every ground, %s", (scheme) => {
  const pairs = READ_ON.flatMap(([front, grounds]) => grounds.map((ground) => [front, ground] as const));

  const hard = pairs.filter(([front, ground]) => !(contrast(token(front, scheme), token(ground, scheme)) >= 4.5));

  expect(hard).toEqual([]);
});

test.each(["light", "dark"] as const)("the edges of fields can be seen, %s", (scheme) => {
  expect(contrast(token("accent", scheme), token("card", scheme))).toBeGreaterThanOrEqual(3);
});
