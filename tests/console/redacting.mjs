// Masks each case as the script does: node redacting.mjs sayso-confirm.js, with the cases on stdin.
import { readFileSync } from "node:fs";

// What a browser has and node does not; nothing of it is used to mask.
globalThis.HTMLElement = class {};
globalThis.CSSStyleSheet = class { replaceSync() {} };
globalThis.customElements = { get() {}, define() {} };
const { redact } = await import(process.argv[2]);
const cases = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(cases.map(redact)));
