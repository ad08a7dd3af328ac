// A server with the tools, resources and prompts that the conformance suite asks for.
// Usage: node suite_server.mjs PORT
import { randomUUID } from "node:crypto";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  CreateMessageResultSchema,
  ElicitResultSchema,
  ListToolsRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { z } from "zod";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
const text = (words) => ({ type: "text", text: words });
const image = { type: "image", data: PNG, mimeType: "image/png" };
const embedded = (uri) => ({
  type: "resource",
  resource: { uri, mimeType: "text/plain", text: "Embedded resource content for testing." },
});
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));
const reads = { readOnlyHint: true, openWorldHint: false };

function build() {
  const server = new McpServer(
    { name: "suite", version: "1.0.0" },
    {
      capabilities: {
        logging: {},
        resources: { subscribe: true, listChanged: true },
        completions: {},
      },
    },
  );
  server.server.setRequestHandler(SetLevelRequestSchema, async () => ({}));
  server.server.setRequestHandler(SubscribeRequestSchema, async () => ({}));
  server.server.setRequestHandler(UnsubscribeRequestSchema, async () => ({}));
  addTools(server);
  addAskingTools(server);
  addResources(server);
  addPrompts(server);
  addSchema(server.server);
  return server;
}

// The SDK writes schemas from zod's; this one is listed as it stands.
function addSchema(server) {
  const list = server._requestHandlers.get("tools/list");
  const tool = {
    name: "json_schema_2020_12_tool",
    description: "A tool with a schema of JSON Schema 2020-12",
    annotations: reads,
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: {
        address: {
          type: "object",
          properties: { street: { type: "string" }, city: { type: "string" } },
        },
      },
      properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
      additionalProperties: false,
    },
  };
  server.setRequestHandler(ListToolsRequestSchema, async (request, extra) => {
    const listed = await list(request, extra);
    return { ...listed, tools: [...listed.tools, tool] };
  });
}

function addTools(server) {
  const content = (name, ...blocks) =>
    server.registerTool(name, { description: name, annotations: reads }, async () => ({
      content: blocks,
    }));
  content("test_simple_text", text("This is a simple text response for testing."));
  content("test_image_content", image);
  content("test_audio_content", { type: "audio", data: WAV, mimeType: "audio/wav" });
  content("test_embedded_resource", embedded("test://embedded-resource"));
  content(
    "test_multiple_content_types",
    text("Multiple content types test:"),
    image,
    embedded("test://mixed-content-resource"),
  );
  server.registerTool(
    "test_tool_with_logging",
    { description: "Log three lines", annotations: reads },
    async (extra) => {
      for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
        await extra.sendNotification({ method: "notifications/message", params: { level: "info", data } });
        await pause();
      }
      return { content: [text("logged")] };
    },
  );
  server.registerTool(
    "test_error_handling",
    { description: "Fail", annotations: reads },
    async () => {
      throw new Error("This tool intentionally returns an error for testing");
    },
  );
  server.registerTool(
    "test_tool_with_progress",
    { description: "Report progress", annotations: reads },
    async (extra) => {
      const progressToken = extra._meta?.progressToken ?? 0;
      for (const progress of [0, 50, 100]) {
        await extra.sendNotification({
          method: "notifications/progress",
          params: { progressToken, progress, total: 100 },
        });
        await pause();
      }
      return { content: [text(String(progressToken))] };
    },
  );
  server.registerTool(
    "test_reconnection",
    { description: "Show a text on a second stream", annotations: reads },
    async (extra) => {
      extra.closeSSEStream?.();
      await pause();
      return { content: [text("Reconnection test completed successfully")] };
    },
  );
}

function addAskingTools(server) {
  server.registerTool(
    "test_sampling",
    { description: "Ask the client's model", inputSchema: { prompt: z.string() }, annotations: reads },
    async ({ prompt }, extra) => {
      const params = { messages: [{ role: "user", content: text(prompt) }], maxTokens: 100 };
      const answer = await extra.sendRequest(
        { method: "sampling/createMessage", params },
        CreateMessageResultSchema,
      );
      return { content: [text(`LLM response: ${answer.content.text}`)] };
    },
  );
  const asking = (name, inputSchema, schema) =>
    server.registerTool(
      name,
      { description: "Ask a person", inputSchema, annotations: reads },
      async (given, extra) => {
        const params = { message: given.message ?? "Please answer", requestedSchema: schema };
        const answer = await extra.sendRequest(
          { method: "elicitation/create", params },
          ElicitResultSchema,
        );
        return {
          content: [text(`Elicitation completed: ${answer.action}, ${JSON.stringify(answer.content)}`)],
        };
      },
    );
  const object = (properties, required = []) => ({ type: "object", properties, required });
  asking(
    "test_elicitation",
    { message: z.string() },
    object({ response: { type: "string", description: "Your answer" } }, ["response"]),
  );
  asking(
    "test_elicitation_sep1034_defaults",
    {},
    object({
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    }),
  );
  const titled = ["1", "2", "3"].map((number) => ({ const: `value${number}`, title: `Option ${number}` }));
  const plain = ["option1", "option2", "option3"];
  asking(
    "test_elicitation_sep1330_enums",
    {},
    object({
      untitledSingle: { type: "string", enum: plain },
      titledSingle: { type: "string", oneOf: titled },
      legacyEnum: {
        type: "string",
        enum: ["opt1", "opt2", "opt3"],
        enumNames: ["Option One", "Option Two", "Option Three"],
      },
      untitledMulti: { type: "array", items: { type: "string", enum: plain } },
      titledMulti: { type: "array", items: { anyOf: titled } },
    }),
  );
}

function addResources(server) {
  const fixed = (name, uri, mimeType, content) =>
    server.registerResource(name, uri, { description: name, mimeType }, async () => ({
      contents: [{ uri, mimeType, ...content }],
    }));
  fixed("static text", "test://static-text", "text/plain", {
    text: "This is the content of the static text resource.",
  });
  fixed("static binary", "test://static-binary", "image/png", { blob: PNG });
  fixed("watched", "test://watched-resource", "text/plain", { text: "watched" });
  server.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { description: "data by id", mimeType: "application/json" },
    async (uri, { id }) => ({
      contents: [
        { uri: uri.href, mimeType: "application/json", text: JSON.stringify({ id, templateTest: true }) },
      ],
    }),
  );
}

function addPrompts(server) {
  const says = (...blocks) => ({ messages: blocks.map((content) => ({ role: "user", content })) });
  server.registerPrompt("test_simple_prompt", { description: "simple" }, async () =>
    says(text("This is a simple prompt for testing.")),
  );
  const word = completable(z.string(), (value) => ["paris", "park", "party"].filter((one) => one.startsWith(value)));
  server.registerPrompt(
    "test_prompt_with_arguments",
    { description: "arguments", argsSchema: { arg1: word, arg2: z.string() } },
    async ({ arg1, arg2 }) => says(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "resource", argsSchema: { resourceUri: z.string() } },
    async ({ resourceUri }) => says(embedded(resourceUri), text("Please process the resource.")),
  );
  server.registerPrompt("test_prompt_with_image", { description: "image" }, async () =>
    says(image, text("Please analyze the image above.")),
  );
}

const sessions = new Map();
const app = createMcpExpressApp();
app.all("/mcp", async (request, response) => {
  let transport = sessions.get(request.headers["mcp-session-id"]);
  if (!transport) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => sessions.set(id, transport),
    });
    await build().connect(transport);
  }
  await transport.handleRequest(request, response, request.body);
});
const listener = app.listen(Number(process.argv[2] ?? 0), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${listener.address().port}/mcp`);
});
