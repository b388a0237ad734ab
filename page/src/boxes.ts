/** Box arithmetic. Boxes are [left, top, right, bottom] in pixels of the frame; sizes are [height, width]. */

import type { Box, Size } from "./contract";

/** A side is never shorter: nobody can see such a box, and nothing can be learnt from it. */
export const SHORTEST_SIDE = 2;

export type Rectangle = { x: number; y: number; w: number; h: number };

export function fromRectangle({ x, y, w, h }: Rectangle): Box {
  return [x, y, x + w, y + h];
}

export function toRectangle([x1, y1, x2, y2]: Box): Rectangle {
  return { x: x1, y: y1, w: x2 - x1, h: y2 - y1 };
}

/** Brings the corners into order and the box into the picture. */
export function fitBox([x1, y1, x2, y2]: Box, [height, width]: Size): Box {
  const [left, right] = fitSpan(Math.min(x1, x2), Math.max(x1, x2), width);
  const [top, bottom] = fitSpan(Math.min(y1, y2), Math.max(y1, y2), height);
  return [left, top, right, bottom];
}

function fitSpan(low: number, high: number, limit: number): [number, number] {
  const shortest = Math.min(SHORTEST_SIDE, limit);
  const start = clamp(low, 0, limit - shortest);
  return [start, clamp(high, start + shortest, limit)];
}

/** Moves a box; at the edge of the picture it stops and keeps its size. */
export function moveBox([x1, y1, x2, y2]: Box, dx: number, dy: number, [height, width]: Size): Box {
  const right = clamp(dx, -x1, width - x2);
  const down = clamp(dy, -y1, height - y2);
  return [x1 + right, y1 + down, x2 + right, y2 + down];
}

/** Moves the right and the bottom side. */
export function resizeBox([x1, y1, x2, y2]: Box, dx: number, dy: number, size: Size): Box {
  return fitBox([x1, y1, Math.max(x2 + dx, x1 + SHORTEST_SIDE), Math.max(y2 + dy, y1 + SHORTEST_SIDE)], size);
}

/** A box in the middle of the picture: where drawing by keyboard begins. */
export function middleBox([height, width]: Size, share = 0.25): Box {
  const side = Math.max(SHORTEST_SIDE, Math.min(height, width) * share);
  return [(width - side) / 2, (height - side) / 2, (width + side) / 2, (height + side) / 2];
}

/** How far one press of an arrow key goes. */
export function keyStep([height, width]: Size): number {
  return Math.max(1, Math.round(Math.max(height, width) / 100));
}

export function scaleBox([x1, y1, x2, y2]: Box, right: number, down: number): Box {
  return [x1 * right, y1 * down, x2 * right, y2 * down];
}

/** Tenths of a pixel are enough, and keep messages short. */
export function roundBox(box: Box): Box {
  return box.map((value) => Math.round(value * 10) / 10) as unknown as Box;
}

export function isSameBox(one: Box, other: Box, tolerance = 0.05): boolean {
  return one.every((value, index) => Math.abs(value - (other[index] ?? Number.NaN)) <= tolerance);
}

export type Share = { left: number; top: number; width: number; height: number };

/** Where a box is, in percent of the picture. */
export function shareOf([x1, y1, x2, y2]: Box, [height, width]: Size): Share {
  return {
    left: (100 * x1) / width,
    top: (100 * y1) / height,
    width: (100 * (x2 - x1)) / width,
    height: (100 * (y2 - y1)) / height,
  };
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), Math.max(low, high));
}
