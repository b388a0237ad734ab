/** Annotorious as this page needs it: axis-aligned boxes that mirror a list, and tell what the pointer does to them. */

import { createImageAnnotator, type ImageAnnotation, type ImageAnnotator, ShapeType } from "@annotorious/annotorious";
import { Origin, type StoreChangeEvent } from "@annotorious/core";
import { fromRectangle, isSameBox, type Rectangle, scaleBox, toRectangle } from "../boxes";
import type { Box, Size } from "../contract";

export type EditorListener = {
  onAdd(id: string, box: Box): void;
  onChange(id: string, box: Box): void;
  onSelect(id: string | null): void;
};

/** Annotorious takes a press as a click only if it is shorter, in milliseconds. */
const SHORT_PRESS = 250;
/** A press that moves less, in pixels of the screen, draws nothing. */
const STILL = 5;

export class BoxEditor {
  private readonly annotator: ImageAnnotator;
  private readonly svg: SVGSVGElement;
  private readonly handles: MutationObserver;
  private readonly forgetSelection: () => void;
  /** Pixels of the image file for one pixel of the frame. */
  private readonly right: number;
  private readonly down: number;
  private isMirroring = false;
  private pressed: { x: number; y: number; time: number } | null = null;

  constructor(
    image: HTMLImageElement,
    [height, width]: Size,
    private readonly listener: EditorListener,
  ) {
    this.right = image.naturalWidth / width;
    this.down = image.naturalHeight / height;
    this.annotator = createImageAnnotator(image, { drawingMode: "drag", theme: "light" });
    const svg = this.annotator.element.querySelector<SVGSVGElement>("svg.a9s-annotationlayer");
    if (!svg) throw new Error("Annotorious has no drawing layer.");
    this.svg = svg;
    this.handles = new MutationObserver(() => this.hideHandlesFromKeyboard());
    this.handles.observe(this.svg, { childList: true, subtree: true });
    this.annotator.element.addEventListener("pointerdown", this.press, { capture: true });
    this.svg.addEventListener("pointerup", this.release);
    this.annotator.state.store.observe(this.noticeChange, { origin: Origin.LOCAL });
    this.forgetSelection = this.annotator.state.selection.subscribe(this.noticeSelection) as () => void;
  }

  get surface(): SVGSVGElement {
    return this.svg;
  }

  destroy(): void {
    this.handles.disconnect();
    this.forgetSelection();
    this.annotator.destroy();
  }

  /** Makes Annotorious show these boxes, and have this one in hand. */
  mirror(boxes: readonly { id: string; box: Box }[], selected: string | null): void {
    this.isMirroring = true;
    try {
      this.mirrorBoxes(boxes);
      this.mirrorSelection(selected);
    } finally {
      this.isMirroring = false;
    }
  }

  private mirrorBoxes(boxes: readonly { id: string; box: Box }[]): void {
    const { store } = this.annotator.state;
    const wanted = new Set(boxes.map(({ id }) => id));
    for (const { id } of store.all()) if (!wanted.has(id)) store.deleteAnnotation(id, Origin.REMOTE);
    for (const { id, box } of boxes) {
      const shape = this.toShape(id, box);
      const shown = store.getAnnotation(id);
      if (!shown) store.addAnnotation(shape, Origin.REMOTE);
      else if (!isSameBox(this.toBox(shown), box) || isTurned(shown)) {
        store.updateTarget({ ...shown.target, selector: shape.target.selector }, Origin.REMOTE);
      }
    }
  }

  private mirrorSelection(selected: string | null): void {
    const { selection } = this.annotator.state;
    if (selected === (selection.selected[0]?.id ?? null)) return;
    if (selected === null) selection.clear();
    else selection.setSelected(selected, true);
  }

  private readonly noticeChange = ({ changes }: StoreChangeEvent<ImageAnnotation>): void => {
    for (const added of changes.created ?? []) this.listener.onAdd(added.id, this.toBox(added));
    for (const { newValue } of changes.updated ?? []) this.listener.onChange(newValue.id, this.toBox(newValue));
  };

  private readonly noticeSelection = ({ selected }: { selected: { id: string }[] }): void => {
    if (!this.isMirroring) this.listener.onSelect(selected[0]?.id ?? null);
  };

  /** Annotorious draws nothing while a box is picked: a press beside it lets go of it, so that a new one can be drawn. */
  private readonly press = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    this.pressed = { x: event.clientX, y: event.clientY, time: event.timeStamp };
    const isOnPicked = event.target instanceof Element && event.target.closest(".a9s-annotation.selected") !== null;
    if (isOnPicked) return;
    this.annotator.state.selection.clear();
    // So that a drag may leave the picture and come back.
    this.svg.setPointerCapture(event.pointerId);
  };

  /** A slow click picks a box, too. */
  private readonly release = (event: PointerEvent): void => {
    const from = this.pressed;
    this.pressed = null;
    if (!from || event.timeStamp - from.time < SHORT_PRESS) return;
    if (Math.hypot(event.clientX - from.x, event.clientY - from.y) > STILL) return;
    const bounds = this.svg.getBoundingClientRect();
    const { width, height } = this.svg.viewBox.baseVal;
    const x = ((event.clientX - bounds.x) / bounds.width) * width;
    const y = ((event.clientY - bounds.y) / bounds.height) * height;
    const hit = this.annotator.state.store.all().findLast((one) => contains(this.rectangleOf(one), x, y));
    if (hit) this.annotator.state.selection.setSelected(hit.id, true);
  };

  /** The page has its own keys for boxes; eight nameless buttons would only be in the way. */
  private hideHandlesFromKeyboard(): void {
    for (const handle of this.svg.querySelectorAll('[role="button"][tabindex="0"]')) {
      handle.setAttribute("tabindex", "-1");
      handle.setAttribute("aria-hidden", "true");
      handle.removeAttribute("role");
    }
  }

  private rectangleOf(annotation: ImageAnnotation): Rectangle {
    return annotation.target.selector.geometry as unknown as Rectangle;
  }

  /** From x, y, w and h: the bounds that Annotorious keeps lag behind a drag, and a turn is not wanted. */
  private toBox(annotation: ImageAnnotation): Box {
    return scaleBox(fromRectangle(this.rectangleOf(annotation)), 1 / this.right, 1 / this.down);
  }

  private toShape(id: string, box: Box): ImageAnnotation {
    const scaled = scaleBox(box, this.right, this.down);
    const [minX, minY, maxX, maxY] = scaled;
    const geometry = { ...toRectangle(scaled), rot: 0, bounds: { minX, minY, maxX, maxY } };
    return { id, bodies: [], target: { annotation: id, selector: { type: ShapeType.RECTANGLE, geometry } } };
  }
}

function isTurned(annotation: ImageAnnotation): boolean {
  return ((annotation.target.selector.geometry as { rot?: number }).rot ?? 0) !== 0;
}

function contains({ x, y, w, h }: Rectangle, px: number, py: number): boolean {
  return px >= x && px <= x + w && py >= y && py <= y + h;
}
