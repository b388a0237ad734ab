import { expect, test } from "vitest";
import * as words from "../src/words";

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1000, "1.0 kB"],
  [999_600, "1.0 MB"],
  [3_906_000, "3.9 MB"],
  [123_456_789, "123 MB"],
  [5e12, "5.0 TB"],
])("%d bytes are %s", (bytes, text) => {
  expect(words.bytesText(bytes)).toBe(text);
});

test.each([
  [0.0484, "48 ms"],
  [0.412, "0.41 s"],
  [4.21, "4.2 s"],
  [75, "1 min 15 s"],
  [null, "–"],
])("to wait %s seconds is %s", (seconds, text) => {
  expect(words.spanText(seconds)).toBe(text);
});

test.each([
  [14.4, "14 s"],
  [134, "2 min 14 s"],
  [3900, "1 h 05 min"],
])("to spend %d seconds is %s", (seconds, text) => {
  expect(words.durationText(seconds)).toBe(text);
});

test.each([
  [null, "never"],
  [999, "now"],
  [958, "42 s ago"],
  [400, "10 min ago"],
  [1005, "now"],
])("at 1000 s, %s is %s", (time, text) => {
  expect(words.agoText(time, 1000)).toBe(text);
});

test("names that come twice are counted", () => {
  expect(words.listNames(["mug", "bowl", "mug"])).toBe("mug ×2, bowl");
});

test("one is singular", () => {
  expect([words.plural(1, "box", "boxes"), words.plural(1200, "box", "boxes")]).toEqual(["1 box", "1,200 boxes"]);
});
