// <sayso-confirm>: an element that shows the console's questions on any page. It has no dependencies.
// Text from servers, models and clients is inserted only as text nodes.

// In milliseconds: ARM is the pause before a new question can be answered, BUSY the pause if the
// person clicked or typed less than RECENT before. Any input restarts the pause.
const ARM = 500, BUSY = 1500, RECENT = 2000;
const SILENT = 15000, LIMIT = 10000, TOLD = 5000, MARKS = 500, ROWS = 200;
const LEVELS = {
  read: ["○", "Read", "changes nothing"],
  write: ["◆", "Write", "changes data, but loses nothing"],
  destructive: ["▲", "Destructive", "may delete or overwrite"],
};

// ---- A call's effect in one sentence, the same as from sayso.say_call in Python.

const MASK = "•••";
// What a secret is by its name and by its look: written from sayso.schema by tools/write_secrets.py.
const SECRETS = {
  "whole": ["csc","cvc","cvv","jwt","mnemonic","otp","pass","pin","pwd","sid","ssn","totp"],
  "last": ["csc","cvc","cvv","jwt","otp","pass","pwd","sessid","sessionid","ssn","totp"],
  "pairs": ["access key","account key","account pin","api key","auth code","auth key","backup code","bank pin","card number","card pin","encryption key","hmac key","master key","mfa code","private key","recovery code","recovery phrase","secret key","security code","seed phrase","sess id","session id","session key","shared key","signing key","sim pin","social security","storage key","user pin","verification code"],
  "singular": ["access","account","api","auth","backup","bank","card","code","csc","cvc","cvv","encryption","hmac","id","jwt","key","master","mfa","mnemonic","number","otp","pass","phrase","pin","private","pwd","recovery","secret","security","seed","sess","sessid","session","sessionid","shared","sid","signing","sim","social","ssn","storage","totp","user","verification"],
  "alike": {"\u0131":"i","\u00df":"ss","\u1e9e":"SS"},
  "anywhere": ["password|passwd|passphrase|passcode|secret|token|credential|authorization|cookie|apikey|privatekey|accesskey","gi"],
  "not": ["^(max|min|n|num|count)[_-]?tokens?$|(page|cursor|continuation|sync)[_-]?token|^(tokenizers?|tokeni[sz]e[rd]?|secretary|secretar(y|ies)[_-]?.*|cookies?[_-]?cutter)$","gi"],
  "counted": ["tokens$","gi"],
  "word": ["[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+","g"],
  "quotes": ["[\"\u00ab\u00bb\u02ba\u02dd\u02ee\u02f5\u02f6\u05f4\u201c\u201d\u201e\u201f\u2033\u2034\u2036\u2037\u2057\u275d\u275e\u2760\u2e42\u3003\u301d\u301e\u301f\uff02'`\u00b4\u02b9\u02bb\u02bc\u02bd\u02c8\u05f3\u2018\u2019\u201a\u201b\u2032\u2035\u275b\u275c\uff07]{2,}|[\"\u00ab\u00bb\u02ba\u02dd\u02ee\u02f5\u02f6\u05f4\u201c\u201d\u201e\u201f\u2033\u2034\u2036\u2037\u2057\u275d\u275e\u2760\u2e42\u3003\u301d\u301e\u301f\uff02]","g"],
  "colours": ["(?:\\x1b|\\\\u001b|\\\\x1b|\\\\033)\\[[0-9;]{0,20}m","gi"],
  "looks": [
    ["url","(?<head>:/\u002f)[^/ \\t-\\r:@]{0,200}:[^/ \\t-\\r]{1,200}(?=@)","g"],
    ["encoded","(?<head>(?:passw(?:or)?d|passphrase|passcode|secret|token|credential|cookie|signature|(?:api|access|account|private|secret|auth|session|shared|signing)[_-]?key|sess(?:ion)?[_-]?id|(?<![A-Za-z0-9])(?:pwd|pass|cvv|cvc|ssn|otp|sig|jwt))s?\\\\?[\"']?[ \\t-\\r]{0,2}[=:][ \\t-\\r]{0,2}\\\\?[\"']?|\\bbearer )(?=[A-Za-z0-9+/]{0,60}[0-9])(?!(?:[A-Za-z0-9+]{0,15}/){4})[A-Za-z0-9+][A-Za-z0-9+/]{39,2000}={0,2}(?![A-Za-z0-9_-]|\\.[A-Za-z0-9])","gi"],
    ["bearer","(?<head>bearer )[A-Za-z0-9_-]{12,}(?:\\.[A-Za-z0-9_-]+)*","gi"],
    ["forms","(?=[-AGNSadefghlnprswxy])(?:\\b(?:sk|pk|rk)[-_](?:live|test|proj|ant)?[-_]?[A-Za-z0-9_-]{16,}|\\bgh[pousr]_[A-Za-z0-9]{20,}|\\bgithub_pat_[A-Za-z0-9_]{20,}|\\bgl(?:pat|ptt|dt|rt|soat|cbt)-[A-Za-z0-9_-]{16,}|\\bnpm_[A-Za-z0-9]{30,}|\\bpypi-[A-Za-z0-9_-]{40,}|\\brubygems_[a-f0-9]{40,}|\\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}|\\b(?:hf|gsk|sq0[a-z]{3}|r8|ntn|figd|lin_api|dop_v1|doo_v1|shp(?:at|ca|pa|ss))[_-][A-Za-z0-9_-]{20,}|\\bSG\\.[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}|\\bwhsec_[A-Za-z0-9+/=]{20,}|\\bhv[sbr]\\.[A-Za-z0-9_-]{20,}|\\bya29\\.[A-Za-z0-9_-]{20,}|\\bAGE-SECRET-KEY-1[A-Z0-9]{30,}|\\bsayso_[A-Za-z0-9]{8,20}_[A-Za-z0-9]{20,}|\\bxox[abeprs]-[A-Za-z0-9-]{10,}|\\bxapp-[A-Za-z0-9-]{10,}|\\bATATT3[A-Za-z0-9_=-]{20,}|\\bGOCSPX-[A-Za-z0-9_-]{20,}|\\bNRAK-[A-Z0-9]{20,}|\\bdapi[a-f0-9]{32}|\\bdp\\.(?:pt|st|ct|sa)\\.[A-Za-z0-9]{30,}|\\bhooks\\.slack\\.com/services/[A-Za-z0-9]{8,20}/[A-Za-z0-9]{8,20}/[A-Za-z0-9]{16,}|\\bdiscord(?:app)?\\.com/api/webhooks/[0-9]{15,20}/[A-Za-z0-9_-]{40,}|\\b(?:AKIA|ASIA)[A-Z0-9]{16}\\b|\\bAIza[A-Za-z0-9_-]{30,}|(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]*(?:\\.[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,})?|-----BEGIN[ A-Z]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\\r\\n]|\\\\{1,4}[nr]|(?<=[A-Za-z0-9+/=]{60}) (?=[A-Za-z0-9+/=]{16})|(?<=-----) (?=[A-Za-z0-9+/=]{60})){64,20000}(?: ?-----END[ A-Z]{0,40}PRIVATE KEY(?: BLOCK)?-----)?)","g"],
    ["basic","(?<=\\bbasic )[A-Za-z0-9+/]{6,2000}={0,2}","gi"],
    ["cookies","(?<head>\\bcookie[ \\t-\\r]{0,2}:[ \\t-\\r]{0,2})[a-z0-9_.-]{1,100}=[a-z0-9_~%+.=-]{1,2000}(?:; {0,2}[a-z0-9_.-]{1,100}=[a-z0-9_~%+.=-]{1,2000}){0,50}","gi"],
    ["named","(?<head>(?:passw(?:or)?d|passphrase|passcode|secret|token|credential|cookie|signature|(?:api|access|account|private|secret|auth|session|shared|signing)[_-]?key|sess(?:ion)?[_-]?id|(?<![A-Za-z0-9])(?:pwd|pass|cvv|cvc|ssn|otp|sig|jwt))s?(?:=|%3D|\"[ \\t-\\r]{0,2}:[ \\t-\\r]{0,2}\"|\\\\\"[ \\t-\\r]{0,2}:[ \\t-\\r]{0,2}\\\\\")[\"']?)[A-Za-z0-9_~%+.=@!\\#^*-]{1,2000}","gi"],
    ["header","(?<head>(?:authorization|api-key|-(?:key|token|secret))[ \\t-\\r]{0,2}:[ \\t-\\r]{0,2}(?:(?:basic|bearer|digest|token|key|apikey|negotiate|aws4-[a-z0-9-]{1,16})[ ])?)(?=[A-Za-z0-9_~+.=-]{0,2000}[0-9])[A-Za-z0-9_~+.=-]{8,2000}","gi"],
    ["flag","(?<head>(?<!-)--[a-z-]{0,24}(?:password|passwd|pwd|token|secret|api-?key|access-?key)[ ])[A-Za-z0-9_~%+.=][A-Za-z0-9_~%+.=-]{3,2000}","gi"]
  ]
};
// End of what is written.
const sets = Object.fromEntries(["whole", "last", "pairs", "singular"].map((name) => [name, new Set(SECRETS[name])]));
const [ANYWHERE, NOT_SECRET, COUNTED, WORD] = ["anywhere", "not", "counted", "word"].map((name) => {
  const [source, flags] = SECRETS[name];
  return new RegExp(source, name === "word" ? flags : flags.replace("g", ""));
});
const LOOKS = SECRETS.looks.map(([kind, source, flags]) => [kind, new RegExp(source, flags)]);

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
// Replace letters that look like ASCII letters, with or without accents, by these.
const ASCII = /^[\0-\x7f]*$/;
const folded = (name) => ASCII.test(name) ? name : [...name].map((letter) => {
  const same = letter.normalize("NFKD").replace(/[\p{M}\p{Cf}]/gu, "").replace(/[ıßẞ]/g, (one) => SECRETS.alike[one]);
  return ASCII.test(same) ? same : letter;
}).join("");
const isSecretName = (given) => {
  const name = folded(given);
  if (NOT_SECRET.test(name)) return false;
  if (ANYWHERE.test(name.replace(/[^A-Za-z]/g, ""))) return true;
  const all = (name.match(WORD) ?? []).filter((one) => !/^[0-9]/.test(one)).map((one) => one.toLowerCase());
  const words = all.map((one) => (one.endsWith("s") && sets.singular.has(one.slice(0, -1)) ? one.slice(0, -1) : one));
  return (words.length === 1 && sets.whole.has(words[0])) || sets.last.has(words.at(-1))
    || words.some((one, at) => at > 0 && sets.pairs.has(`${words[at - 1]} ${one}`));
};
const isSecret = (name, value) => isSecretName(name)
  && !(["number", "boolean"].includes(typeof value) && COUNTED.test(name))
  && !(value === null || value === "" || (typeof value === "object" && !Object.keys(value).length));
// Mask the word after “basic” only if it is the Base64 form of `user:password`.
const basic = (text) => {
  try { return atob(text + "=".repeat((4 - (text.length % 4)) % 4)).includes(":") ? MASK : text; } catch { return text; }
};
const COLOURS = new RegExp(...SECRETS.colours);
const masked = (text) => {
  const bare = text.replace(COLOURS, "");
  const known = LOOKS.reduce((said, [kind, look]) => said.replace(look, (found, head) =>
    kind === "basic" ? basic(found) : kind === "forms" ? MASK : `${head}${MASK}`), bare);
  return known === bare ? text : known;
};
// In a list of words, mask the word after a flag that names a secret, such as `--password`.
const ALONE = new RegExp(`^(?:${SECRETS.looks.find(([kind]) => kind === "flag")[1]})`, "i");
const after = (flag, word) => typeof flag === "string" && typeof word === "string" && flag.startsWith("--")
  ? `${flag} ${word}`.replace(ALONE, `$<head>${MASK}`).slice(flag.length + 1) : word;
// The secret name of an object such as `{name: "password", value: "…"}`, whose value is masked.
const nameOf = (given) => ["name", "key", "Name", "Key"].map((key) => given[key])
  .find((name) => typeof name === "string" && isSecretName(name)) ?? "";
const field = (name, value) => {
  if (!isSecret(name, value) || isObject(value)) return redact(value);
  return Array.isArray(value) ? value.map((one) => (one && typeof one === "object" ? redact(one) : MASK)) : MASK;
};
/** Return a copy of a JSON value. Secrets are masked, found by a field's name or their look. */
export const redact = (value) =>
  typeof value === "string" ? masked(value)
  : Array.isArray(value) ? value.map((one, at) => redact(after(value[at - 1], one)))
  : isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, one]) =>
    [name, field(name === "value" || name === "Value" ? nameOf(value) : name, one)]))
  : value;

const json = (value) =>
  Array.isArray(value) ? `[${value.map(json).join(", ")}]`
  : isObject(value) ? `{${Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${json(one)}`).join(", ")}}`
  : JSON.stringify(value) ?? "null";
const clip = (text, limit, room = limit) => {
  const all = [...text];
  return all.length <= limit ? text : `${all.slice(0, room).join("")}…`;
};
const shown = (value) => clip(typeof value === "string" ? value : json(value), 120);
const plain = (text) => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (one) => `\\u${one.codePointAt(0).toString(16).padStart(4, "0")}`);
const fill = (template, known) => template.replace(/\{([A-Za-z_][A-Za-z0-9_.]*)\}/g, (gap, path) => {
  let found = known;
  for (const step of path.split(".")) {
    if (!isObject(found) || !Object.hasOwn(found, step)) return gap;
    found = found[step];
  }
  return shown(found);
});
const which = (known) => {
  const ids = Object.entries(known).filter(([name]) => name === "id" || /(_id|Id)$/.test(name)).map(([, one]) => one);
  const isOne = ids.length === 1 && (typeof ids[0] !== "object" && (typeof ids[0] !== "number" || Number.isInteger(ids[0])));
  return isOne ? ` ${shown(ids[0])}` : "";
};
const listed = (known) => {
  let told = "";
  for (const [name, value] of Object.entries(known)) {
    const more = `${told ? ", " : ""}${name} ${shown(value)}`;
    if ([...told, ...more].length > 80) return told && ` (${told}, …)`;
    told += more;
  }
  return told && ` (${told})`;
};
const texts = (...values) => values.find((one) => typeof one === "string" && one.trim());
const levelOf = (tool) => {
  if (typeof tool.level === "string" && Object.hasOwn(LEVELS, tool.level)) return tool.level;
  const { readOnlyHint, destructiveHint } = tool.annotations ?? {};
  return readOnlyHint === true ? "read" : destructiveHint === false ? "write" : "destructive";
};
/** Return a call's effect in one sentence. `tool` has the form of the API or of `tools/list`. */
export const sentence = (tool, given = {}) => {
  const known = redact(given), level = levelOf(tool);
  const title = texts(tool.title, tool.annotations?.title, tool.name) ?? "a tool";
  const confirm = texts(tool.confirm, tool._meta?.["io.sayso/intent"]?.confirm);
  const what = `${title}${which(known) || listed(known)}`;
  const lowered = /^.\p{Uppercase}/su.test(what) ? what : what.replace(/^./su, (one) => one.toLowerCase());
  const said = confirm ? fill(confirm, known)
    : level === "read" ? `This only reads: ${what}.`
    : level === "write" ? `About to ${lowered}. OK?`
    : `This may delete, overwrite or send something: ${what}. Proceed?`;
  return plain(clip(said, 400));
};

// ---- Elements whose content is text.

const HIDDEN = /[\p{C}\p{Z}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{1d159}\u{e0100}-\u{e01ef}]/gu;
const make = (tag, given = {}, ...inside) => {
  const { on, ...attributes } = given, element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value === true || (value ?? false) !== false) element.setAttribute(name, value === true ? "" : value);
  if (on) element.addEventListener("click", on);
  // Append one by one: a long text has more parts than one call may have arguments.
  for (const one of inside.flat(2)) if (one) element.append(one);
  return element;
};
// Show hidden characters as code points, so that they cannot hide or reverse text. Only the first
// MARKS of them become elements, because a page cannot have any number of elements.
const reveal = (value, limit = Infinity, kept = " ") => {
  const text = String(value ?? ""), parts = [];
  let end = 0, rest = "", many = 0;
  const cut = limit < text.length ? `${text.slice(0, limit)}… (and ${text.length - limit} more characters)` : text;
  for (const { 0: char, index } of cut.matchAll(HIDDEN)) {
    if (kept.includes(char)) continue;
    const code = char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    if (++many > MARKS) rest += `${cut.slice(end, index)}‹U+${code}›`;
    else parts.push(cut.slice(end, index), make("mark", {}, `‹U+${code}›`));
    end = index + char.length;
  }
  return [...parts, rest + cut.slice(end)];
};
const said = (value, limit) => make("bdi", {}, reveal(value, limit));
// Replace quotes in names chosen by others, so that a name cannot close the quotes around it.
const QUOTES = new RegExp(...SECRETS.quotes);
const unquoted = (text) => text.replace(QUOTES, "'");
const named = (value, limit) => said(unquoted(String(value ?? "")).split(/\s+/).join(" ").trim(), limit);
const quoted = (value, limit) => ["“", named(value, limit), "”"];
const textOf = (value) => {
  if (typeof value === "string") return value;
  const line = json(value);
  return line.length <= 60 ? line : JSON.stringify(value, null, 2);
};
const kindOf = (value) =>
  value === MASK ? "secret, masked" : typeof value === "string" ? (value ? "text" : "empty text")
  : typeof value === "boolean" ? "true or false" : typeof value === "number" ? "number"
  : Array.isArray(value) ? `list of ${value.length}`
  : isObject(value) ? `object of ${Object.keys(value).length}` : "null";
const block = (value) => {
  const text = textOf(value), pre = make("pre", { dir: "auto" }, reveal(text, Infinity, " \n\t"));
  if (text.length <= 400 && text.split("\n").length <= 12) return pre;
  const size = `${text.length.toLocaleString("en")} characters`;
  return make("details", {}, make("summary", {}, reveal(text.slice(0, 80).replace(/\s+/g, " ")), "… ", make("small", {}, size)), pre);
};
const short = (known) => clip(Object.entries(known).map(([name, value]) => {
  const text = clip(unquoted(textOf(value)).split(/\s+/).join(" "), 32, 31);
  return `${name} ${typeof value === "string" && value !== MASK ? `“${text}”` : text}`;
}).join(", "), 80, 79);

const argumentsOf = (given) => {
  const all = Object.entries(given), rows = all.slice(0, ROWS).map(([name, value]) => make("tr", {},
    make("th", { scope: "row" }, said(name, 200), " ", make("small", {}, kindOf(value))), make("td", {}, block(value))));
  if (all.length > ROWS) rows.push(make("tr", {}, make("th", { scope: "row" }, `${all.length - ROWS} more`),
    make("td", {}, block(Object.fromEntries(all.slice(ROWS))))));
  return rows.length ? make("table", {}, make("caption", {}, "Arguments"), make("tbody", {}, rows)) : make("p", { class: "soft" }, "No arguments.");
};
const planOf = ({ changes, total }) => {
  const names = [...new Set(changes.flatMap((one) => (isObject(one) ? Object.keys(one) : [])))];
  const isTable = changes.every(isObject) && names.length > 0 && names.length <= 6;
  const head = isTable && make("thead", {}, make("tr", {}, names.map((name) => make("th", { scope: "col" }, said(name, 60)))));
  const rows = changes.map((one) => make("tr", {}, isTable
    ? names.map((name) => make("td", {}, Object.hasOwn(one, name) ? block(one[name]) : ""))
    : make("td", {}, block(one))));
  const many = total > changes.length ? `: the first ${changes.length} of ${total}` : ` (${total})`;
  return make("table", { class: "plan" }, make("caption", {}, "What would change", many), head,
    make("tbody", {}, rows.length ? rows : make("tr", {}, make("td", {}, "Nothing."))));
};
const fact = (name, ...value) => make("div", {}, make("dt", {}, name), make("dd", {}, ...value));
const left = (until) => {
  const whole = Math.max(0, Math.trunc(until - Date.now() / 1000)), minutes = Math.trunc(whole / 60);
  return minutes ? `${minutes} min ${whole % 60} s` : `${whole} s`;
};

/** Return the elements that describe a question to a person. */
const bodyOf = (question) => {
  const known = redact(question.arguments ?? {}), brief = short(known);
  const [sign, name, meaning] = LEVELS[levelOf(question)];
  const told = question.confirm ?? question.sentence ?? sentence(question, known);
  return make("div", { class: "body", tabindex: "-1" },
    make("p", { class: "over" }, make("span", { class: "label" }, "Requires confirmation"), " ",
      make("span", { class: `level ${levelOf(question)}` }, make("span", { "aria-hidden": "true" }, sign), " ", make("b", {}, name), ` ${meaning}`),
      question.number !== undefined && make("span", { class: "soft number" }, ` Approval ${question.number}`)),
    make("h2", { id: "ask" }, "May ", quoted(question.client, 60), " run “", named(question.title ?? question.tool, 120),
      brief && make("span", { class: "short" }, " · ", said(brief)), "” on ", quoted(question.server, 60), "?"),
    make("p", { id: "tell" }, question.confirm ? "The tool’s author says: " : "", said(told, 400)),
    (question.findings ?? []).map((one) => make("p", { class: "finding" }, make("b", {}, "Finding: "), said(one.message, 400), " ", make("code", {}, reveal(one.code, 80)))),
    question.edit && make("section", { class: "note" }, make("p", {}, "A reviewer changed the arguments. The call would run with these changes:"), argumentsOf(redact(question.edit))),
    question.plan && planOf(question.plan),
    make("div", { class: "halves" },
      make("div", {}, argumentsOf(known), question.extras && Object.keys(question.extras).length > 0
        && make("section", {}, make("p", {}, "Sent along with the arguments:"), argumentsOf(redact(question.extras))), question.description
        && make("details", { class: "soft" }, make("summary", {}, "What the server says about this tool"), make("pre", { dir: "auto" }, reveal(question.description, 4000, " \n\t")))),
      make("div", {}, make("dl", {}, fact("Tool", make("code", {}, reveal(question.tool, 128))), fact("Agent", said(question.client, 128), make("small", {}, " as it calls itself")),
        question.subject && fact("For", question.subject === "local" ? "this machine’s user" : said(question.subject, 128)),
        question.reason && fact("Why it asks", said(question.reason, 400)), question.rule && fact("By", said(question.rule, 200))),
        question.hints?.length && make("ul", { "aria-label": "Hints" }, question.hints.map((one) => make("li", {},
          make("b", {}, reveal(one.name), ": ", one.value ? "yes" : "no"), " ", make("small", {}, reveal(one.source)), make("small", { class: "line" }, reveal(one.meaning))))))),
    question.needed > 1 && make("p", {}, `${question.needed} people must allow it; one denial is enough.`));
};

const OUTCOMES = { approved: "Allowed", used: "Allowed", denied: "Denied" };
const ended = ({ state, answered_by: by, channel }) => {
  if (state === "unknown") return ["Settled elsewhere. The result is not known here."];
  const verb = OUTCOMES[state];
  if (!verb) return ["Not answered in time. Nothing was run."];
  return [verb, by === channel ? ` in the ${channel}` : by ? [" by ", said(by, 128), channel ? ` (${channel})` : ""] : "", "."].flat(2);
};

const SHEET = new CSSStyleSheet();
SHEET.replaceSync(`
:host { color-scheme: light dark; --card: #fffefb; --sunk: #f3f1ea; --line: #dbd8ce; --edge: #85897f; --ink: #1c2321;
  --soft: #555e5a; --accent: #1f5c57; --on: #fff; --read: #24613b; --read-bg: #e5f1e7; --write: #6f4e00; --write-bg: #f8edcf;
  --destructive: #9c2b1b; --destructive-bg: #fae6e1; --odd: #6b1fa3; --odd-bg: #f1e3fb; }
@media (prefers-color-scheme: dark) { :host { --card: #1b201e; --sunk: #151a18; --line: #343c39; --edge: #7d8883; --ink: #e8ebe7;
  --soft: #a7b1ac; --accent: #83cbc1; --on: #0c211e; --read: #95d5a7; --read-bg: #182e20; --write: #eec36a; --write-bg: #33290f;
  --destructive: #ffa392; --destructive-bg: #3b1f19; --odd: #d9a8fb; --odd-bg: #33204a; } }
*, ::before { box-sizing: border-box; }
[hidden] { display: none !important; }
:is(h2, p, ul, dl, dd, pre, table) { margin: 0; padding: 0; }
ul { list-style: none; display: grid; gap: .375rem; }
dialog, .later { font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; color: var(--ink); background: var(--card); }
dialog { border: 1px solid var(--edge); border-radius: 12px; padding: 0; overflow-wrap: anywhere; text-align: start;
  width: min(60rem, calc(100vw - 1rem)); max-width: none; max-height: min(56rem, calc(100dvh - 1rem)); box-shadow: 0 1rem 3rem rgb(0 0 0 / .3); }
dialog[open] { display: flex; flex-direction: column; }
dialog::backdrop { background: rgb(0 0 0 / .5); }
.body, .foot { display: grid; gap: .75rem; grid-template-columns: minmax(0, 1fr); padding: 1.25rem 1.5rem; }
.body { overflow: auto; flex: 1 1 auto; align-content: start; outline-offset: -3px; }
.foot { border-top: 1px solid var(--line); padding-block: .875rem 1rem; gap: .5rem; flex: none; }
h2 { font-size: 1.3125rem; line-height: 1.35; letter-spacing: -.01em; text-wrap: pretty; }
.short { font-weight: 500; } .soft, small, dt, thead th, .left { color: var(--soft); } small, .left { font-size: .8125rem; font-weight: 400; }
.line, dd small { display: block; }
.over { display: flex; flex-wrap: wrap; gap: .25rem .5rem; align-items: center; font-size: .875rem; } .number { margin-inline-start: auto; }
.label, .level { border-radius: 6px; padding: .0625rem .5rem; }
.label { border: 1px solid var(--write); color: var(--write); background: var(--write-bg); font-size: .8125rem; font-weight: 600; }
.level.read { color: var(--read); background: var(--read-bg); } .level.write { color: var(--write); background: var(--write-bg); }
.level.destructive { color: var(--destructive); background: var(--destructive-bg); }
.halves { display: grid; gap: 1rem 2rem; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); }
.halves > div, dl { display: grid; gap: .75rem; align-content: start; grid-template-columns: minmax(0, 1fr); } dl { gap: .375rem; font-size: .9375rem; }
dl > div { display: grid; grid-template-columns: 6.5rem minmax(0, 1fr); gap: .5rem; }
li { border: 1px solid var(--line); border-radius: 6px; padding: .1875rem .625rem; font-size: .8125rem; line-height: 1.4; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; } caption { text-align: start; font-weight: 600; padding-bottom: .375rem; }
th, td { text-align: start; vertical-align: top; padding: .5rem .75rem; background: var(--sunk); border-block: 1px solid var(--line); }
tbody th { width: 38%; } th, code, pre { font: 600 .875rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; } code, pre { font-weight: 400; }
th small { display: block; font-family: system-ui, sans-serif; } thead th { font-weight: 500; }
pre { white-space: pre-wrap; unicode-bidi: isolate; max-height: 24rem; overflow: auto; } .plan pre { max-height: 8rem; }
bdi, code { unicode-bidi: isolate; } mark { background: var(--odd-bg); color: var(--odd); border-radius: 3px; font-weight: 600; }
.note, .finding { background: var(--sunk); border-radius: 8px; padding: .75rem 1rem; } .finding { background: var(--write-bg); color: var(--write); }
.wrong { color: var(--destructive); font-weight: 600; font-size: .9375rem; }
.lost { background: var(--destructive-bg); margin: .75rem .75rem 0; padding: .75rem 1rem; border-radius: 8px; }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; } .buttons > :last-child { margin-inline-start: auto; }
button { font: inherit; font-weight: 600; color: var(--ink); background: var(--card); cursor: pointer; border: 1px solid var(--edge);
  border-radius: 8px; padding: .5rem 1.25rem; min-height: 2.75rem; min-width: 7.5rem; }
button:hover { border-color: var(--ink); } button[aria-disabled=true] { opacity: .55; cursor: default; }
button.strong { background: var(--accent); border-color: var(--accent); color: var(--on); }
.destructive button.strong { background: var(--destructive); border-color: var(--destructive); }
input { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--edge); border-radius: 8px; padding: .5rem .75rem; width: 100%; }
summary { cursor: pointer; } a { color: var(--accent); text-underline-offset: .2em; } :focus { outline: none; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 4px; } .soft summary, .more summary { color: var(--soft); font-size: .9375rem; }
.later { min-width: 0; } .row { font-size: .9375rem; display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; align-items: baseline; justify-content: space-between; }
@media (max-width: 46rem) { .halves { grid-template-columns: minmax(0, 1fr); } .body { padding: 1rem; } .foot { padding-inline: 1rem; } .buttons button { flex: 1 1 auto; min-width: 0; padding-inline: .5rem; } }
@media (max-height: 30rem) { dialog[open] { display: block; overflow: auto; } .body { overflow: visible; } }
@media (prefers-reduced-motion: no-preference) { dialog[open] { animation: rise .15s ease-out; } @keyframes rise { from { opacity: 0; transform: translateY(.5rem); } } }
@media (forced-colors: active) { .level, .label, li { border: 1px solid; } }
`);

// ---- The element.

export class SaysoConfirm extends HTMLElement {
  static observedAttributes = ["base"];
  #root = this.attachShadow({ mode: "open" });
  // #queue: by number, { question, send, done }. #over: by number of an answered question, the edit seen.
  #queue = new Map();
  #over = new Map();
  #token = null; #csrf = null; #line = null; #entry = null; #held = 0; #busy = -RECENT; #isBarred = false; #base = null; #isLost = false; #isOut = false; #own = 0;

  constructor() {
    super();
    this.#root.adoptedStyleSheets = [SHEET];
    this.dialog = make("dialog", { role: "alertdialog", "aria-modal": "true", "aria-labelledby": "ask", "aria-describedby": "tell" });
    this.later = make("button", { class: "later", hidden: true, on: () => this.#resume() });
    this.#root.append(this.later, this.dialog);
    this.dialog.addEventListener("keydown", (event) => this.#press(event));
    this.dialog.addEventListener("scroll", () => this.#stir(), { capture: true, passive: true });
    // A dialog closed by Escape, by the button “Later” or by the page leaves the question open.
    this.dialog.addEventListener("close", () => {
      // The browser sends this event a moment later, when another question may already be shown.
      if (this.dialog.open) return;
      if (this.#entry) this.#entry.isLater = true;
      this.#entry = null;
      this.dialog.replaceChildren();
      this.#count();
    });
  }

  /** A bearer token, or a function that returns one or a promise of one. Without it, the console's session is used. */
  get token() { return this.#token; }
  set token(value) { this.#token = value; this.#where(); if (this.isConnected) this.#connect(); }
  connectedCallback() {
    this.clock = setInterval(() => this.#tick(), 1000);
    const { signal } = this.alive = new AbortController();
    addEventListener("offline", () => this.#line && this.#tell(true), { signal });
    addEventListener("online", () => this.#connect(), { signal });
    // Watch input on the whole page: a person who clicks or types elsewhere is busy.
    const early = { signal, capture: true, passive: true };
    for (const name of ["pointerdown", "mousedown", "touchstart", "keydown"]) addEventListener(name, (event) => this.#begin(event), early);
    for (const name of ["pointerup", "pointercancel", "keyup"]) addEventListener(name, () => setTimeout(() => (this.#isBarred = false)), early);
    for (const name of ["click", "dblclick", "auxclick", "input", "wheel", "touchend"]) addEventListener(name, () => this.#stir(), early);
    for (const name of ["focus", "blur", "resize"]) addEventListener(name, () => this.dialog.open && this.#arm(), { signal });
    document.addEventListener("visibilitychange", () => this.dialog.open && this.#arm(), { signal });
    // Connect later, so that a script that creates the element can first set its token.
    queueMicrotask(() => this.#connect());
  }
  disconnectedCallback() { clearInterval(this.clock); this.alive.abort(); this.#line?.abort(); this.#line = null; this.dialog.close(); }
  attributeChangedCallback() { if (this.isConnected && !this.#base) this.#connect(); }

  /** Show a question of your own. Resolves with `{verdict, message}`, or with `null` if it is settled elsewhere. */
  ask(question) {
    const key = question.number ?? `own ${++this.#own}`;
    return new Promise((resolve) => {
      const send = async (body) => { resolve({ verdict: body.verdict, message: body.message ?? null }); return { ok: true, question }; };
      this.#take(key, question, send, () => resolve(null));
    });
  }
  /** Report that a question was settled elsewhere: `{number, state, answered_by, channel}`. */
  settle(outcome) { this.#settle(outcome.number, outcome); }

  #take(key, question, send, done) {
    const known = this.#queue.get(key), entry = known ?? { key };
    const isSame = known && known.question.seen === question.seen;
    this.#queue.set(key, Object.assign(entry, { question, send, done }));
    if (isSame) return;
    if (this.#entry === entry) this.#fill(entry, "Another reviewer has changed the arguments.");
    else if (!this.dialog.open) this.#show();
    this.#count();
  }

  #count() {
    const many = this.#queue.size;
    this.later.hidden = !many || this.dialog.open;
    this.later.textContent = many === 1 ? "One call is waiting for your answer" : `${many} calls are waiting for your answer`;
    const more = this.#root.getElementById("more");
    if (more) more.textContent = many > 1 ? `${many - 1} more after this` : "";
  }

  #resume() {
    for (const one of this.#queue.values()) one.isLater = false;
    this.#show();
  }

  #show() {
    const entry = [...this.#queue.values()].find((one) => !one.isLater);
    if (!entry) return this.dialog.close();
    this.#fill(entry);
    if (!this.dialog.open) this.dialog.showModal();
    this.dialog.querySelector("#deny").focus({ preventScroll: true });
    this.#count();
  }

  #fill(entry, told = "") {
    this.#entry = entry;
    entry.isSent = false;
    const { question } = entry, level = levelOf(question), number = this.#root.getElementById("message")?.value ?? "";
    const press = (id, verdict, name, kind) => make("button", { id, class: kind, "data-key": verdict === "deny" && "d", "aria-describedby": "ask", on: () => this.#answer(verdict) }, name, question.edit && verdict === "allow" ? " with the changes" : "");
    const page = /^https?:/.test(question.url ?? "") && make("a", { href: question.url, target: "_blank", rel: "noopener noreferrer" }, "More in the console");
    this.dialog.className = level;
    this.dialog.replaceChildren(
      make("p", { id: "lost", class: "lost", role: "status", hidden: true }), bodyOf(question),
      make("div", { class: "foot" },
        make("p", { id: "told", class: "wrong", role: "alert", hidden: !told }, told),
        make("div", { class: "buttons" }, press("deny", "deny", "Deny"), press("allow", "allow", "Allow once", "strong"),
          make("button", { id: "later", on: () => this.dialog.close() }, "Later")),
        make("p", { class: "left" }, "This applies to one call, with exactly ", question.edit ? "the arguments as changed" : "these arguments", ".",
          question.expires ? [" Without an answer the question expires in ", make("span", { id: "until" }), ", and nothing runs."] : ""),
        make("div", { class: "row" }, make("details", { class: "more" }, make("summary", {}, "Add a message"),
          make("label", { for: "message" }, make("small", {}, "Recorded in the log; if you deny, also sent to the agent")),
          make("input", { id: "message", maxlength: "2000", autocomplete: "off" })), page, make("span", { id: "more", class: "soft" }))));
    this.#root.getElementById("message").value = told ? number : "";
    this.#arm();
    this.#tick();
    this.#count();
  }

  // Start the pause, so that a click or key meant for something else does not answer a new question.
  #arm() {
    const now = performance.now(), pause = now - this.#busy < RECENT ? BUSY : ARM;
    this.#held = Math.max(this.#held, now + pause);
    this.#hold();
    setTimeout(() => this.#hold(), pause + 10);
  }
  // Restart the pause if there is input during it.
  #stir() {
    this.#busy = performance.now();
    if (this.dialog.open && this.#busy < this.#held) this.#arm();
  }
  // Input that begins during the pause has no effect, even if it ends later.
  #begin(event) {
    const isEarly = this.dialog.open && (event.repeat || this.#isHeld());
    this.#isBarred = isEarly || (this.#isBarred && event.type === "keydown");
    this.#stir();
  }
  #isHeld() { return this.#isLost || this.#isOut || performance.now() < this.#held; }
  #hold() {
    for (const button of this.dialog.querySelectorAll("#deny, #allow")) button.setAttribute("aria-disabled", this.#isHeld());
    const lost = this.#root.getElementById("lost");
    if (!lost) return;
    lost.hidden = !this.#isLost && !this.#isOut;
    lost.textContent = this.#isOut ? "You are logged out, or may not answer here." : "sayso does not answer. This page may be out of date. Trying again …";
  }
  #tell(isLost, isOut = false) {
    const isBack = (this.#isLost || this.#isOut) && !isLost && !isOut;
    [this.#isLost, this.#isOut] = [isLost, isOut];
    if (isBack) this.#arm(); else this.#hold();
  }
  #tick() {
    const until = this.#root.getElementById("until"), question = this.#entry?.question;
    if (until && question) until.textContent = left(question.expires);
    for (const [key, one] of this.#queue)
      if (one.done && one.question.expires < Date.now() / 1000) this.#settle(key, { state: "expired" });
  }

  #press(event) {
    const { key, target } = event, isText = target.matches("input");
    if (key === "Enter" && (event.repeat || isText)) return event.preventDefault();
    if (key === "Enter" && target.id === "allow" && this.dialog.className === "destructive") return event.preventDefault();
    // Ignore letters in fields, with modifiers or held down: the person may be writing something.
    if (isText || event.ctrlKey || event.metaKey || event.altKey || event.repeat || !/^[a-z]$/.test(key)) return;
    const found = this.dialog.querySelector(`[data-key="${key}"]`);
    if (!found) return;
    event.preventDefault();
    found.click();
  }

  async #answer(verdict) {
    const entry = this.#entry;
    if (!entry || entry.isSent || this.#isBarred || this.#isHeld()) return;
    entry.isSent = true;
    const message = this.#root.getElementById("message").value.trim();
    const result = await entry.send({ verdict, seen: entry.question.seen ?? "", ...(message && { message }) });
    if (!result.ok) {
      entry.isSent = false;
      const settled = result.settled ?? entry.outcome;
      if (settled) return this.#settle(entry.key, settled);
      const told = this.#entry === entry && this.#root.getElementById("told");
      if (told) [told.hidden, told.textContent] = [false, result.told];
      this.#arm();
      return;
    }
    this.#over.set(entry.key, entry.question.seen);
    this.#queue.delete(entry.key);
    this.#emit("sayso-answered", { verdict, question: result.question });
    if (this.#entry === entry) this.#show();
    this.#count();
  }

  // If a question was settled elsewhere, show this in place of its buttons, then the next question.
  #settle(key, outcome) {
    const entry = this.#queue.get(key);
    if (!entry) return;
    // An answer was sent from here and may have settled the question: wait for its response.
    if (entry.isSent) return void (entry.outcome = outcome);
    this.#queue.delete(key);
    entry.done?.();
    this.#emit("sayso-settled", { question: { ...entry.question, ...outcome } });
    this.#count();
    if (this.#entry !== entry) return;
    const next = () => this.#entry === entry && (clearTimeout(rest), this.#show());
    const close = make("button", { on: next }, this.#queue.size ? "Next" : "Close"), rest = setTimeout(next, TOLD);
    this.dialog.querySelector(".foot").replaceChildren(make("p", { id: "ended", role: "status" }, ended({ ...entry.question, ...outcome })), make("div", {}, close));
    close.focus({ preventScroll: true });
  }
  #emit(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true })); }

  // ---- Requests to the gateway.

  /** The gateway's URL. Once there is a token, it does not change, so that no other site gets the token. */
  #where() {
    if (this.#base) return this.#base;
    const given = (this.getAttribute("base") ?? "").replace(/\/+$/, "");
    const base = given ? new URL(given, location.href).href.replace(/\/+$/, "") : location.origin;
    if (this.#token && this.hasAttribute("base")) this.#base = base;
    return base;
  }

  async #fetch(path, options = {}) {
    const token = typeof this.#token === "function" ? await this.#token() : this.#token;
    const base = this.#where();
    const headers = { ...options.headers, ...(token && { Authorization: `Bearer ${token}` }), ...(this.#csrf && !token && { "X-CSRF-Token": this.#csrf }) };
    const how = { credentials: token ? "omit" : "same-origin", redirect: "error", cache: "no-store", ...options, headers };
    return fetch(`${base}${token ? "" : "/console"}/api/v1${path}`, how);
  }

  async #connect() {
    this.#line?.abort();
    // On other origins the console's cookie is not sent, so do not connect without a token.
    const isOwn = new URL(this.#where(), location.href).origin === location.origin;
    if ((!this.hasAttribute("base") && !this.#base) || (!this.#token && !isOwn)) return;
    const line = this.#line = new AbortController();
    for (let wait = 500; !line.signal.aborted; wait = Math.min(wait * 2, 10000)) {
      const begun = Date.now(), status = await this.#listen(line.signal).catch(() => 0);
      if (line.signal.aborted) return;
      if (Date.now() - begun > LIMIT) wait = 500;
      this.#tell(status !== 401 && status !== 403, status === 401 || status === 403);
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  /** Read one event stream to its end. Resolves with the HTTP status if the stream was refused. */
  async #listen(signal) {
    const silence = new AbortController(), both = AbortSignal.any([signal, silence.signal]);
    let quiet = setTimeout(() => silence.abort(), LIMIT), buffer = "";
    if (!this.#token) this.#csrf = (await (await this.#fetch("/me", { signal: both })).json()).csrf ?? null;
    const answer = await this.#fetch("/events", { signal: both });
    if (!answer.ok) return clearTimeout(quiet), answer.status;
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      clearTimeout(quiet);
      quiet = setTimeout(() => silence.abort(), SILENT);
      this.#tell(false);
      const events = (buffer + part.value).split("\n\n");
      buffer = events.pop();
      for (const one of events) await this.#hear(one);
    }
    return clearTimeout(quiet), 0;
  }

  async #hear(text) {
    const lines = Object.fromEntries(text.split("\n").map((line) => line.split(/: (.*)/s)));
    const data = JSON.parse(lines.data || "{}");
    if (lines.event === "asked" && data.may_answer && this.#over.get(data.number) !== data.seen)
      this.#take(data.number, data, (body) => this.#send(data.number, body));
    if (lines.event === "settled") this.#settle(data.number, data);
    if (lines.event === "ready")
      for (const [key, one] of this.#queue)
        if (!one.done && !data.open.includes(key)) this.#settle(key, await this.#look(key));
  }
  async #look(number) {
    const answer = await this.#fetch(`/approvals/${number}`, { signal: AbortSignal.timeout(LIMIT) }).catch(() => null);
    return (answer?.ok && await answer.json().catch(() => null)) || { state: "unknown" };
  }

  /** Send an answer once and return the result. */
  async #send(number, body) {
    const unknown = "sayso did not respond, so your answer may or may not have arrived. It counts at most once.";
    const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal: AbortSignal.timeout(LIMIT) };
    const answer = await this.#fetch(`/approvals/${number}/answer`, options).catch(() => null);
    if (!answer || answer.status >= 500) return { told: unknown };
    const told = await answer.json().catch(() => ({}));
    if (answer.ok) return { ok: true, question: told };
    if (told.code === "late") return { settled: await this.#look(number) };
    return { told: told.detail ?? "Nothing was answered." };
  }
}
customElements.get("sayso-confirm") ?? customElements.define("sayso-confirm", SaysoConfirm);
