import assert from "node:assert/strict";
import test from "node:test";

import { greet } from "./index.js";

test("greets", () => {
  assert.equal(greet("Ada"), "Hello, Ada");
});
