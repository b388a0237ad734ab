/** Draws a live picture and its boxes onto a canvas. */

import { scaleBox } from "../boxes";
import { type ColourPlaces, colourOf, LETTERS_ON_COLOUR } from "../colours";
import type { PictureHeader } from "../contract";
import { scoreText } from "../words";

/** Draws as large as the place allows: never wider than it is, nor higher than it may be. */
export function fitPicture(
  canvas: HTMLCanvasElement,
  host: HTMLElement,
  image: ImageBitmap,
  header: PictureHeader,
  colours: ColourPlaces,
): void {
  const [height, width] = header.size;
  const { maxHeight } = getComputedStyle(host);
  const highest = maxHeight === "none" ? host.clientHeight : Number.parseFloat(maxHeight);
  const wide = Math.min(host.clientWidth, (highest * width) / height);
  drawPicture(canvas, image, header, colours, wide, window.devicePixelRatio || 1);
  canvas.style.width = `${wide}px`;
  canvas.dataset.picture = String(header.picture);
}

/** `width` is that of the canvas in pixels of the page; `sharpness` how many pixels of the screen each of them has. */
function drawPicture(
  canvas: HTMLCanvasElement,
  image: ImageBitmap,
  header: PictureHeader,
  colours: ColourPlaces,
  width: number,
  sharpness: number,
): void {
  const [frameHeight, frameWidth] = header.size;
  const scale = width / frameWidth;
  const height = frameHeight * scale;
  canvas.width = Math.max(1, Math.round(width * sharpness));
  canvas.height = Math.max(1, Math.round(height * sharpness));
  const pen = canvas.getContext("2d");
  if (!pen) return;
  pen.scale(sharpness, sharpness);
  pen.imageSmoothingQuality = "high";
  pen.drawImage(image, 0, 0, width, height);
  header.boxes.forEach((box, index) => {
    const name = header.names[index] ?? "";
    const score = header.scores[index];
    const text = score === undefined ? name : `${name} ${scoreText(score)}`;
    drawBox(pen, scaleBox(box, scale, scale), text, colourOf(name, colours), width);
  });
}

function drawBox(
  pen: CanvasRenderingContext2D,
  [x1, y1, x2, y2]: readonly [number, number, number, number],
  text: string,
  colour: string,
  width: number,
): void {
  const size = width > 500 ? 13 : 11;
  const tag = size + 6;
  pen.lineWidth = width > 500 ? 2.5 : 2;
  pen.strokeStyle = colour;
  pen.strokeRect(x1, y1, x2 - x1, y2 - y1);
  pen.font = `600 ${size}px ${getComputedStyle(pen.canvas).fontFamily}`;
  const length = pen.measureText(text).width + 10;
  const left = Math.max(0, Math.min(x1 - pen.lineWidth / 2, width - length));
  // Above the box; inside where there is no room above.
  const top = y1 >= tag ? y1 - tag : y1;
  pen.fillStyle = colour;
  pen.fillRect(left, top, length, tag);
  pen.fillStyle = LETTERS_ON_COLOUR;
  pen.textBaseline = "middle";
  pen.fillText(text, left + 5, top + tag / 2 + 0.5);
}
