/**
 * A server that speaks the contract with made-up pictures. Only for development: `npm run mock -- --scenario paused`.
 * It serves the built page under the same strict rules as the real server.
 */

import { createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { WebSocketServer } from "ws";
import { Run } from "./run.mjs";

const PAGE = join(dirname(fileURLToPath(import.meta.url)), "../../src/leocod/live/page");
const RULES =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; " +
  "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

/** Starts the server and returns it, its run and what tests need to disturb it. */
export async function startMock({ port = 0, scenario = "busy" } = {}) {
  const mock = { run: new Run(scenario), sockets: new Set(), isMute: false, wantsToken: false };
  const server = createServer((request, response) => serve(request, response, mock));
  const sockets = new WebSocketServer({ server, path: "/api/socket" });
  sockets.on("connection", (socket) => welcome(socket, mock));
  const timer = setInterval(() => broadcast(mock), 500);
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  mock.url = `http://127.0.0.1:${server.address().port}/`;
  mock.dropConnections = () => {
    for (const socket of mock.sockets) socket.terminate();
  };
  mock.tell = () => broadcast(mock);
  mock.stop = async () => {
    clearInterval(timer);
    mock.dropConnections();
    sockets.close();
    await new Promise((resolve) => server.close(resolve));
  };
  return mock;
}

function welcome(socket, mock) {
  if (mock.wantsToken) {
    socket.close(4401);
    return;
  }
  mock.sockets.add(socket);
  socket.on("close", () => mock.sockets.delete(socket));
  socket.send(JSON.stringify({ type: "state", state: mock.run.state() }));
  let number = 1;
  const sendPicture = () => !mock.run.lost && socket.send(mock.run.picture(number++));
  socket.on("message", (data) => {
    const message = JSON.parse(data.toString());
    if (message.type === "shown") {
      setTimeout(sendPicture, 120);
      return;
    }
    const answer = mock.run.answer(message);
    // A mute server takes a command and dies before it answers.
    if (!mock.isMute) socket.send(JSON.stringify(answer));
    broadcast(mock);
  });
  socket.send(mock.run.picture(0));
}

function broadcast(mock) {
  if (!mock.run.changed || mock.isMute) return;
  mock.run.changed = false;
  const text = JSON.stringify({ type: "state", state: mock.run.state() });
  for (const socket of mock.sockets) socket.send(text);
}

function serve(request, response, mock) {
  const path = new URL(request.url, "http://localhost").pathname;
  const headers = { "Content-Security-Policy": RULES, "X-Content-Type-Options": "nosniff" };
  const frame = /^\/api\/frames\/(\d+)\.jpg$/.exec(path);
  const picture = frame && mock.run.jpegOf(Number(frame[1]));
  const file = join(PAGE, normalize(path === "/" ? "/index.html" : path));
  if (picture) {
    response.writeHead(200, { ...headers, "Content-Type": "image/jpeg", "Cache-Control": "private, max-age=3600" });
    response.end(picture);
  } else if (path === "/api/state") {
    response.writeHead(200, { ...headers, "Content-Type": "application/json" });
    response.end(JSON.stringify(mock.run.state()));
  } else if (path.startsWith("/api/exports/")) {
    response.writeHead(200, { ...headers, "Content-Type": "application/octet-stream" });
    response.end("made up");
  } else if (file.startsWith(PAGE) && existsSync(file) && extname(file) !== "") {
    response.writeHead(200, { ...headers, "Content-Type": TYPES[extname(file)] ?? "text/plain" });
    createReadStream(file).pipe(response);
  } else {
    response.writeHead(404, headers);
    response.end("There is nothing here.");
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = { port: { type: "string", default: "8765" }, scenario: { type: "string", default: "busy" } };
  const { values } = parseArgs({ options });
  const mock = await startMock({ port: Number(values.port), scenario: values.scenario });
  console.log(`Mock of leocod live (${values.scenario}): ${mock.url}`);
  if (values.scenario === "busy") setInterval(() => mock.run.requests.length < 6 && mock.run.ask(), 4000);
}
