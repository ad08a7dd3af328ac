// Says each case in the script's words: node sentences.mjs sayso-confirm.js sentences.json
import { readFileSync } from "node:fs";

// What a browser has and node does not; nothing of it is used to say a sentence.
globalThis.HTMLElement = class {};
globalThis.CSSStyleSheet = class { replaceSync() {} };
globalThis.customElements = { get() {}, define() {} };
const [, , script, cases] = process.argv;
const { sentence } = await import(script);
const said = JSON.parse(readFileSync(cases, "utf8")).map((one) => sentence(one.tool, one.arguments));
process.stdout.write(JSON.stringify(said));
