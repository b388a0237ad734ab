/** Small examples of what the server sends. */

import type { LabelRequest, State } from "../src/contract";

export function makeRequest(frame: number, change: Partial<LabelRequest> = {}): LabelRequest {
  return {
    frame,
    step: 3,
    size: [100, 200],
    asked: 1000 + frame,
    proposals: [{ box: [10, 20, 50, 60], name: "mug", score: 0.9 }],
    ...change,
  };
}

export function makeState(change: Partial<State> = {}): State {
  return {
    run: { name: "kitchen", directory: "runs/kitchen", source: "camera 0", detector: "tiny", version: "1" },
    status: "learning",
    activity: null,
    source: { status: "running", message: null, fps: 12 },
    counters: {
      frames_seen: 1234,
      frames_dropped: 5,
      steps_seen: 20,
      steps_learned: 18,
      steps_dropped: 1,
      steps_waiting: 1,
      labels: 4,
      boxes: 9,
      seconds: 134,
      step_seconds: 0.42,
      lag: 0.048,
      memory_bytes: 3_200_000,
      memory_frames: 12,
    },
    labels_per_step: 1,
    requests: [makeRequest(1), makeRequest(2)],
    labels: [],
    classes: [{ name: "mug", labels: 4, boxes: 9, last_seen: 100, ap: 50, from_start: false }],
    accuracy: [],
    kept_aside: 2,
    memory: [],
    exports: [],
    messages: [],
    ...change,
  };
}

export function makeLabel(label: number, frame: number): State["labels"][number] {
  return { label, frame, names: ["mug"], complete: true, time: 100, state: "waiting" };
}
