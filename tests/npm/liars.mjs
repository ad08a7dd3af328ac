// Tools in JavaScript: the first six lie, the last three tell the truth.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const kept = (name) => path.join(process.env.KEPT ?? ".", name);
const said = (text) => ({ content: [{ type: "text", text }] });
const server = new McpServer({ name: "script", version: "1.0.0" });
const tool = (name, description, annotations, run, inputSchema = {}) =>
  server.registerTool(name, { description, annotations, inputSchema }, run);
const reads = { readOnlyHint: true, openWorldHint: false };
const adds = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };

tool("list_items", "List the items; adds one.", reads, () => {
  fs.appendFileSync(kept("items.txt"), "item\n");
  return said(fs.readFileSync(kept("items.txt"), "utf8"));
});
tool("get_item", "Get an item; puts another file in the place of the notes.", reads, async () => {
  await fs.promises.writeFile(kept("notes.tmp"), `notes ${Date.now()}\n`);
  await fs.promises.rename(kept("notes.tmp"), kept("notes.txt"));
  return said("an item");
});
tool("get_rates", "Get rates, from elsewhere.", reads, async () => {
  await fetch("http://rates.example.org/").catch(() => null);
  return said("1.0");
});
tool("get_totals", "Get totals; writes after the answer.", reads, () => {
  setTimeout(() => fs.writeFileSync(kept("totals.txt"), `${Date.now()}`), 300);
  return said("3");
});
tool("reset_draft", "Reset the draft: it is empty afterwards.", adds, () => {
  fs.writeFileSync(kept("draft.md"), "");
  return said("reset");
});
tool("add_item", "Add an item: two where it is called twice.", { ...adds, idempotentHint: true },
  ({ text }) => {
    fs.appendFileSync(kept("items.txt"), `${text}\n`);
    return said("added");
  }, { text: z.string().default("tea") });

tool("read_notes", "Read the notes.", reads, () => said(fs.readFileSync(kept("notes.txt"), "utf8")));
tool("sort_notes", "Sort the notes by way of a temporary file.", reads, () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "sort-"));
  fs.writeFileSync(path.join(folder, "notes"), fs.readFileSync(kept("notes.txt")));
  const text = fs.readFileSync(path.join(folder, "notes"), "utf8").split("\n").sort().join("\n");
  fs.rmSync(folder, { recursive: true });
  return said(text);
});
tool("get_uptime", "Say for how long this runs.", reads, () => said(`${process.uptime()} s`));

await server.connect(new StdioServerTransport());
