import { expect, test } from "vitest";
import * as boxes from "../src/boxes";

const SIZE = [100, 200] as const;

test("a box that was drawn from right to left is put in order", () => {
  expect(boxes.fitBox([50, 60, 10, 20], SIZE)).toEqual([10, 20, 50, 60]);
});

test("a box never leaves the picture", () => {
  expect(boxes.fitBox([-5, -5, 250, 130], SIZE)).toEqual([0, 0, 200, 100]);
  expect(boxes.fitBox([300, 300, 400, 400], SIZE)).toEqual([198, 98, 200, 100]);
});

test("a box never vanishes", () => {
  expect(boxes.fitBox([10, 10, 10, 10], SIZE)).toEqual([10, 10, 12, 12]);
});

test("a moved box keeps its size and stops at the edge", () => {
  expect(boxes.moveBox([10, 20, 50, 60], 5, -5, SIZE)).toEqual([15, 15, 55, 55]);
  expect(boxes.moveBox([10, 20, 50, 60], -99, 99, SIZE)).toEqual([0, 60, 40, 100]);
});

test("a resized box keeps its top left corner", () => {
  expect(boxes.resizeBox([10, 20, 50, 60], 5, -10, SIZE)).toEqual([10, 20, 55, 50]);
  expect(boxes.resizeBox([10, 20, 50, 60], -99, 0, SIZE)).toEqual([10, 20, 12, 60]);
  expect(boxes.resizeBox([10, 20, 50, 60], 999, 999, SIZE)).toEqual([10, 20, 200, 100]);
});

test("drawing by keyboard begins in the middle", () => {
  expect(boxes.middleBox(SIZE, 0.2)).toEqual([90, 40, 110, 60]);
});

test("an arrow key goes one hundredth of the longer side", () => {
  expect(boxes.keyStep([480, 1280])).toBe(13);
  expect(boxes.keyStep([10, 10])).toBe(1);
});

test("rectangles and boxes are the same in other words", () => {
  expect(boxes.fromRectangle({ x: 1, y: 2, w: 3, h: 4 })).toEqual([1, 2, 4, 6]);
  expect(boxes.toRectangle([1, 2, 4, 6])).toEqual({ x: 1, y: 2, w: 3, h: 4 });
});

test("boxes are scaled, rounded and compared", () => {
  expect(boxes.scaleBox([1, 2, 3, 4], 2, 10)).toEqual([2, 20, 6, 40]);
  expect(boxes.roundBox([1.234, 5.678, 9, 10.05])).toEqual([1.2, 5.7, 9, 10.1]);
  expect(boxes.isSameBox([1, 2, 3, 4], [1.01, 2, 3, 4])).toBe(true);
  expect(boxes.isSameBox([1, 2, 3, 4], [1.1, 2, 3, 4])).toBe(false);
});

test("shares are percent of the picture", () => {
  expect(boxes.shareOf([20, 10, 120, 60], SIZE)).toEqual({ left: 10, top: 10, width: 50, height: 50 });
});
