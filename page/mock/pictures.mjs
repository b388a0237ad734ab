/** Made-up pictures: a table with things on it that move about. Only for development. */

import jpeg from "jpeg-js";

/** MOCK_UPRIGHT turns the camera: to see how the page looks with the video of a phone. */
export const HEIGHT = process.env.MOCK_UPRIGHT ? 768 : 480;
export const WIDTH = process.env.MOCK_UPRIGHT ? 432 : 768;

const THINGS = [
  { name: "mug", colour: [196, 74, 62], w: 92, h: 104, draw: drawMug },
  { name: "bottle", colour: [58, 132, 96], w: 62, h: 178, draw: drawBottle },
  { name: "ball", colour: [232, 178, 52], w: 96, h: 96, draw: drawBall },
  { name: "book", colour: [72, 96, 170], w: 158, h: 104, draw: drawBook },
  { name: "plant", colour: [86, 148, 72], w: 120, h: 160, draw: drawPlant },
];

/** Where each thing is at a time, and whether it is seen. Left, top, right, bottom. */
export function thingsAt(time) {
  return THINGS.flatMap((thing, index) => {
    const phase = index * 2.1;
    const x = (0.5 + 0.4 * Math.sin(time * 0.11 + phase)) * (WIDTH - thing.w);
    const y = (0.52 + 0.38 * Math.cos(time * 0.083 + phase * 1.7)) * (HEIGHT - thing.h);
    const isSeen = Math.sin(time * 0.05 + phase * 3) > -0.35;
    return isSeen ? [{ ...thing, box: [x, y, x + thing.w, y + thing.h] }] : [];
  });
}

/** Things at places that a number chooses; the same number, the same places. */
export function thingsOf(number) {
  const chance = (index) => (((Math.sin(number * 12.9898 + index * 78.233) * 43758.5453) % 1) + 1) % 1;
  const order = [...THINGS.keys()].sort((one, other) => chance(one) - chance(other));
  return order.slice(0, 2 + Math.floor(chance(9) * 3)).map((which, place) => {
    const thing = THINGS[which];
    const x = Math.min(WIDTH - thing.w - 6, 30 + place * 178 + chance(which + 20) * 60);
    const y = 90 + chance(which + 40) * (HEIGHT - thing.h - 110);
    return { ...thing, box: [x, y, x + thing.w, y + thing.h] };
  });
}

/** The things of a picture as a JPEG file; `scale` makes it smaller. */
export function drawJpeg(things, scale = 1, quality = 82) {
  const picture = newPicture(Math.round(WIDTH * scale), Math.round(HEIGHT * scale));
  drawTable(picture);
  for (const { box, colour, draw } of [...things].sort((one, other) => one.box[3] - other.box[3])) {
    const scaled = box.map((value) => value * scale);
    shade(picture, scaled);
    draw(picture, scaled, colour);
  }
  return jpeg.encode(picture, quality).data;
}

function newPicture(width, height) {
  return { width, height, data: Buffer.alloc(width * height * 4, 255) };
}

function drawTable(picture) {
  const { width, height, data } = picture;
  const horizon = height * 0.3;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const grain = ((x * 7919 + y * 104729) % 13) - 6;
      const light = 1 - 0.35 * Math.hypot(x / width - 0.35, y / height - 0.3);
      const wood = Math.sin(y * 0.09 + Math.sin(x * 0.012) * 3) * 6;
      const base = y < horizon ? [214, 212, 205] : [166 + wood, 128 + wood, 94 + wood];
      const at = (y * width + x) * 4;
      for (let part = 0; part < 3; part++) data[at + part] = clamp(base[part] * light + grain * 0.6);
    }
  }
}

/** Paints every pixel of the box for which `covers(u, v)` says how bright it is; u and v go from 0 to 1. */
function paint(picture, [x1, y1, x2, y2], colour, covers) {
  const { width, height, data } = picture;
  for (let y = Math.max(0, Math.floor(y1)); y < Math.min(height, y2); y++) {
    for (let x = Math.max(0, Math.floor(x1)); x < Math.min(width, x2); x++) {
      const bright = covers((x - x1) / (x2 - x1), (y - y1) / (y2 - y1));
      if (bright === null) continue;
      const at = (y * width + x) * 4;
      for (let part = 0; part < 3; part++) data[at + part] = clamp(colour[part] * bright);
    }
  }
}

function shade(picture, [x1, , x2, y2]) {
  const w = x2 - x1;
  const { width, height, data } = picture;
  const h = w * 0.24;
  for (let y = Math.max(0, Math.floor(y2 - h)); y < Math.min(height, y2 + h * 0.6); y++) {
    for (let x = Math.max(0, Math.floor(x1 - w * 0.1)); x < Math.min(width, x2 + w * 0.35); x++) {
      const away = Math.hypot((x - x1 - w * 0.6) / (w * 0.7), (y - y2 + h * 0.2) / (h * 0.75));
      if (away >= 1) continue;
      const at = (y * width + x) * 4;
      for (let part = 0; part < 3; part++) data[at + part] *= 0.62 + 0.38 * away;
    }
  }
}

/** Light from the left, as on something round. */
const round = (u) => 1.12 - 0.55 * Math.abs(u - 0.38) ** 1.4 * 1.6;

function drawMug(picture, box, colour) {
  paint(picture, box, colour, (u, v) => {
    const handle = Math.hypot((u - 0.76) / 0.24, (v - 0.5) / 0.3);
    if (u > 0.74) return handle < 1 && handle > 0.6 ? 0.85 : null;
    if (Math.hypot((u - 0.37) / 0.37, (v - 0.08) / 0.08) < 1) return 0.45;
    return v > 0.08 && v < 1 - 0.05 * Math.abs(u - 0.37) * 4 ? round(u / 0.74) : null;
  });
}

function drawBottle(picture, box, colour) {
  paint(picture, box, colour, (u, v) => {
    const half = v < 0.28 ? 0.19 : v < 0.42 ? 0.19 + (v - 0.28) * 2.2 : 0.5;
    if (Math.abs(u - 0.5) > half) return null;
    if (v < 0.06) return 0.5;
    return v > 0.55 && v < 0.8 ? 1.7 * round(u) : round(u);
  });
}

function drawBall(picture, box, colour) {
  paint(picture, box, colour, (u, v) => {
    const away = Math.hypot(u - 0.5, v - 0.5) / 0.5;
    if (away > 1) return null;
    return 1.18 - 0.75 * Math.hypot(u - 0.36, v - 0.3);
  });
}

function drawBook(picture, box, colour) {
  paint(picture, box, colour, (u, v) => {
    if (v > 0.86) return u > 0.03 ? 2.4 : null;
    if (u < 0.07) return 0.65;
    return v > 0.25 && v < 0.33 && u > 0.25 && u < 0.8 ? 2 : 1.05 - 0.18 * v;
  });
}

function drawPlant(picture, box, colour) {
  paint(picture, box, [176, 104, 76], (u, v) =>
    v > 0.66 && Math.abs(u - 0.5) < 0.3 - (v - 0.66) * 0.3 ? round(u) : null,
  );
  paint(picture, box, colour, (u, v) => {
    for (let leaf = 0; leaf < 9; leaf++) {
      const turn = (leaf / 8) * Math.PI;
      const x = 0.5 + 0.32 * Math.cos(turn) * (0.6 + 0.4 * (leaf % 2));
      const y = 0.45 - 0.3 * Math.sin(turn);
      if (Math.hypot((u - x) / 0.17, (v - y) / 0.13) < 1) return 0.7 + 0.06 * leaf;
    }
    return null;
  });
}

function clamp(value) {
  return Math.max(0, Math.min(255, value));
}
