// The TypeScript SDK's client: takes where to, the era and the steps from standard input, and
// prints what it is answered.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const LISTEN_MS = 500;
const CANCEL_MS = 300;

const read = async () => {
  const pieces = [];
  for await (const piece of process.stdin) pieces.push(piece);
  return JSON.parse(Buffer.concat(pieces));
};

const { where, era, steps } = await read();
let heard = new Set();
let asked = [];
let progress = [];

const client = new Client(
  { name: "typescript", version: "1" },
  {
    capabilities: { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } },
    versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: era } },
  },
);
client.setRequestHandler("sampling/createMessage", async ({ params }) => {
  asked.push(params);
  return { role: "assistant", content: { type: "text", text: "hello" }, model: "m" };
});
client.setRequestHandler("elicitation/create", async ({ params }) => {
  asked.push(params);
  const isForm = (params.mode ?? "form") === "form";
  return { action: "accept", ...(isForm ? { content: { name: "Amy", check: true } } : {}) };
});
client.setRequestHandler("roots/list", async () => ({ roots: [{ uri: "file:///tmp/a", name: "a" }] }));
client.fallbackNotificationHandler = async ({ method }) => { heard.add(method); };

const options = (step) => (step.is_told
  // It hands on the last one, which comes with the answer, or drops it: as its queue has it.
  ? { onprogress: (one) => one.progress < one.total && progress.push([one.progress, one.total, one.message ?? null]) }
  : {});

const isModern = era !== "legacy";
// Since 2026-07-28 who wants to hear of changes asks for a stream, and logs are asked for with each call.
const LOUD = isModern ? { _meta: { "io.modelcontextprotocol/logLevel": "debug" } } : {};
let followed;
const follow = async (uri) => {
  followed = await client.listen({ resourceSubscriptions: [uri] });
  return {};
};
const leave = async () => {
  await followed.close();
  return {};
};

const ROUTES = {
  "tools/list": () => client.listTools(),
  "prompts/list": () => client.listPrompts(),
  "resources/list": () => client.listResources(),
  "resources/templates/list": () => client.listResourceTemplates(),
  "tools/call": (step, more) => client.callTool({ ...step.params, ...LOUD }, { ...options(step), ...more }),
  "prompts/get": (step) => client.getPrompt(step.params),
  "resources/read": (step) => client.readResource(step.params),
  "completion/complete": (step) => client.complete(step.params),
  "logging/setLevel": (step) => client.setLoggingLevel(step.params.level),
  "resources/subscribe": (step) => isModern ? follow(step.params.uri) : client.subscribeResource(step.params),
  "resources/unsubscribe": (step) => isModern ? leave() : client.unsubscribeResource(step.params),
  ping: () => client.ping(),
};

const answer = async (step) => {
  const cancel = new AbortController();
  if (step.is_cancelled) setTimeout(() => cancel.abort("no more"), CANCEL_MS);
  try {
    return { result: await ROUTES[step.method](step, { signal: cancel.signal }) };
  } catch (error) {
    if (step.is_cancelled) return { cancelled: cancel.signal.aborted };
    return { error: { code: error.code, message: error.message, data: error.data } };
  }
};

const hears = async (method) => {
  const end = Date.now() + LISTEN_MS;
  while (!heard.has(method) && Date.now() < end) await new Promise((go) => setTimeout(go, 10));
  return heard.has(method);
};

const transport = typeof where === "string"
  ? new StreamableHTTPClientTransport(new URL(where))
  : new StdioClientTransport({ command: where[0], args: where.slice(1), stderr: "ignore" });
await client.connect(transport);
if (isModern) await client.listen({ resourcesListChanged: true });

const answers = {
  hello: {
    version: client.getNegotiatedProtocolVersion?.() ?? null,
    server: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    instructions: client.getInstructions(),
  },
};
for (const step of steps) {
  heard.clear();
  asked = [];
  progress = [];
  const said = await answer(step);
  if (step.until) said.heard = await hears(step.until);
  if (asked.length) said.asked = asked;
  if (progress.length) said.progress = progress;
  answers[step.name] = said;
}
process.stdout.write(JSON.stringify(answers));
await client.close();
