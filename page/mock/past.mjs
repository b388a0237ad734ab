/** What the made-up run has behind it when the page comes. */

const seconds = () => Date.now() / 1000;

export function makeClasses() {
  const now = seconds();
  return [
    { name: "mug", labels: 14, boxes: 17, last_seen: now - 1, ap: 81.4, from_start: false },
    { name: "bottle", labels: 11, boxes: 12, last_seen: now - 4, ap: 74.9, from_start: false },
    { name: "ball", labels: 9, boxes: 9, last_seen: now - 2, ap: 88.2, from_start: false },
    { name: "book", labels: 8, boxes: 10, last_seen: now - 96, ap: 52.7, from_start: false },
    { name: "cup", labels: 2, boxes: 2, last_seen: now - 1900, ap: null, from_start: false },
    { name: "person", labels: 0, boxes: 0, last_seen: null, ap: null, from_start: true },
  ];
}

export function makeCrowd() {
  const long = "a blue enamel coffee pot with a chipped lid and a wooden handle";
  const names = [
    long,
    "זכוכית",
    "コーヒーカップ",
    "<b>bold</b>",
    ...Array.from({ length: 76 }, (_, index) => `thing ${index}`),
  ];
  return names.map((name, index) => ({
    ...{ name, labels: index < 4 ? 1 : 0, boxes: index, last_seen: null },
    ...{ ap: index * 1.2, from_start: index > 3 },
  }));
}

export function makeAccuracy() {
  return Array.from({ length: 22 }, (_, index) => ({
    step: 20 + index * 14,
    labels: 2 + index,
    ap: Math.round(10 * (74 * (1 - Math.exp(-index / 6)) + 3 * Math.sin(index * 1.9))) / 10,
  })).map((one) => ({ ...one, ap: Math.max(0, one.ap) }));
}

export function makeMessages(scenario) {
  const now = seconds();
  const messages = [
    { time: now - 340, level: "info", text: "The run starts. Frames come from camera 0 at 768 x 480." },
    { time: now - 200, level: "info", text: "Checkpoint of step 200 is written." },
    { time: now - 131, level: "warning", text: "Learning is slower than the camera: 2 steps were dropped." },
    { time: now - 64, level: "info", text: "kitchen-step-300.safetensors is exported." },
  ];
  if (scenario !== "lost") return messages;
  return [
    ...messages,
    { time: now - 9, level: "error", text: "Camera 0 gives no frames. leocod tries again every 5 s." },
  ];
}
