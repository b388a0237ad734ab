/** Measures how long a person spends on each frame: while the page is seen and somebody is there. */

/** Who touches nothing for so long is somewhere else. Milliseconds. */
export const LONGEST_THOUGHT = 30_000;

export class Stopwatch {
  private frame: number | null = null;
  private since = 0;
  private lastTouch = 0;
  private readonly spent = new Map<number, number>();

  constructor(
    private readonly now: () => number,
    private readonly isVisible: () => boolean,
  ) {}

  /** Goes on with this frame; null stops. */
  watch(frame: number | null): void {
    if (frame === this.frame) return;
    this.count();
    this.frame = frame;
    this.lastTouch = this.now();
  }

  /** Call at every key, click and movement, and when the page is shown or hidden. */
  touch(): void {
    this.count();
    this.lastTouch = this.now();
  }

  /** Seconds spent on the frame; it starts again at zero. */
  take(frame: number): number {
    this.count();
    const seconds = (this.spent.get(frame) ?? 0) / 1000;
    this.spent.delete(frame);
    return seconds;
  }

  private count(): void {
    const now = this.now();
    if (this.frame !== null && this.isVisible()) {
      const end = Math.min(now, this.lastTouch + LONGEST_THOUGHT);
      this.spent.set(this.frame, (this.spent.get(this.frame) ?? 0) + Math.max(0, end - this.since));
    }
    this.since = now;
  }
}
