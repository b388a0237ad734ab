import { expect, test } from "vitest";
import { BrokenContract, readMessage, readPicture } from "../src/protocol";
import { makeState } from "./samples";

test("a state is read as it was sent", () => {
  const state = makeState();

  expect(readMessage(JSON.stringify({ type: "state", state }))).toEqual({ type: "state", state });
});

test("answers keep their number and their sentence", () => {
  expect(readMessage('{"type":"ack","id":3,"ok":true,"label":7}')).toEqual({ type: "ack", id: 3, ok: true, label: 7 });
  expect(readMessage('{"type":"ack","id":4,"ok":false,"error":"No."}')).toEqual({
    type: "ack",
    id: 4,
    ok: false,
    error: "No.",
  });
});

test.each([
  ["not JSON", "is not JSON"],
  ["[1]", "is not an object"],
  ['{"type":"song"}', "unknown type"],
  ['{"type":"ack","ok":true}', "without its id"],
  ['{"type":"state","state":{}}', "has no 'run'"],
  [JSON.stringify({ type: "state", state: { ...makeState(), requests: null } }), "no list 'requests'"],
  [JSON.stringify({ type: "state", state: { ...makeState(), status: "asleep" } }), "unknown status"],
])("a message that breaks the contract is refused: %s", (text, complaint) => {
  expect(() => readMessage(text)).toThrow(BrokenContract);
  expect(() => readMessage(text)).toThrow(complaint);
});

function pack(header: object, jpeg: number[]): ArrayBuffer {
  const head = new TextEncoder().encode(JSON.stringify(header));
  const bytes = new Uint8Array(4 + head.length + jpeg.length);
  new DataView(bytes.buffer).setUint32(0, head.length);
  bytes.set(head, 4);
  bytes.set(jpeg, 4 + head.length);
  return bytes.buffer;
}

test("a picture is its header and the file behind it", async () => {
  const header = { picture: 5, size: [480, 640], captured: 12, lag: 0.1, boxes: [[1, 2, 3, 4]], names: ["Tasse ☕"] };

  const picture = readPicture(pack({ ...header, scores: [0.5] }, [255, 216, 7]));

  expect(picture.header).toEqual({ ...header, scores: [0.5] });
  expect(new Uint8Array(await picture.jpeg.arrayBuffer())).toEqual(new Uint8Array([255, 216, 7]));
});

test("a picture that was cut off is refused", () => {
  const whole = pack({ picture: 5, size: [480, 640] }, []);

  expect(() => readPicture(whole.slice(0, 9))).toThrow("half a header");
  expect(() => readPicture(new ArrayBuffer(2))).toThrow("without a header");
  expect(() => readPicture(pack({ picture: 5, size: [0, 640] }, []))).toThrow("number or size");
});
