"use strict";
// Shared by all pages: notifications, forms that are sent once, keyboard shortcuts, copying. Pages
// also work without this script; a reload then shows changes.
const sayso = (() => {
  const ARM = 500, BUSY = 1500, RECENT = 2000;
  const LOOK = 5000, SILENT = 40000, LIMIT = 10000;
  const find = (id) => document.getElementById(id);
  const all = (query, root = document) => [...root.querySelectorAll(query)];
  const main = find("main"), bare = document.title.replace(/^\(\d+\) /, "");
  const opened = () => all("dialog[open]").at(-1);
  let isLost = false, isOut = false, isHeard = false, heard = Date.now();
  let known = +(find("waiting")?.textContent ?? 0);
  document.documentElement.classList.add("js");

  // While the gateway or the session is missing, buttons do nothing. They are marked `aria-disabled`
  // instead of `disabled`, so that they keep the focus.
  const armed = new WeakMap();
  const hold = (button) => {
    const isHeld = isLost || isOut || (armed.get(button) ?? 0) > performance.now();
    button.setAttribute("aria-disabled", isHeld);
  };
  const hold_all = () => all("form[data-once] button").forEach(hold);

  // When a question appears, its buttons do nothing for a short pause, so that a click or key meant
  // for something else does not answer it. Any input restarts the pause. Input that begins during
  // the pause has no effect, even if it ends later.
  let busy = -RECENT, isBarred = false;
  const armed_now = () => all("[name=verdict]").filter((one) => (armed.get(one) ?? 0) > performance.now());
  const arm_buttons = (buttons, pause) => {
    for (const one of buttons) armed.set(one, Math.max(armed.get(one) ?? 0, performance.now() + pause));
    buttons.forEach(hold);
    if (buttons.length) setTimeout(() => buttons.forEach(hold), pause + 10);
  };
  const arm = (root) => arm_buttons(all("[name=verdict]", root), performance.now() - busy < RECENT ? BUSY : ARM);
  const stir = () => {
    busy = performance.now();
    arm_buttons(armed_now(), BUSY);
  };
  const begin = (event) => {
    const isEarly = event.repeat || armed_now().length > 0;
    isBarred = Boolean(isEarly || (isBarred && event.type === "keydown"));
    stir();
  };
  const early = { capture: true, passive: true };
  for (const name of ["pointerdown", "mousedown", "touchstart", "keydown"]) addEventListener(name, begin, early);
  for (const name of ["pointerup", "pointercancel", "keyup"]) addEventListener(name, () => setTimeout(() => (isBarred = false)), early);
  for (const name of ["click", "dblclick", "auxclick", "wheel", "touchend"]) addEventListener(name, stir, early);
  const arm_shown = () => arm(opened() ?? document);
  for (const name of ["focus", "resize"]) addEventListener(name, arm_shown);
  document.addEventListener("visibilitychange", arm_shown);
  // A refresh may have moved a button under the pointer, so start the pause again.
  document.addEventListener("htmx:after:swap", (event) => {
    const root = event.target instanceof Element ? event.target : document;
    if (root.querySelector("[name=verdict]") || root.contains(opened() ?? null)) arm_shown();
  });

  const tell = (lost, out = isOut) => {
    const wasLost = isLost;
    [isLost, isOut] = [lost, out];
    if (!find("lost")) return;
    find("lost").hidden = !isLost || isOut;
    find("out").hidden = !isOut;
    hold_all();
    if (wasLost && !isLost) arm(document);
  };

  // Error notes must be visible, so they move into an open dialog.
  const move_notes = (root) => find("lost") && root.prepend(find("lost"), find("out"));

  const ask = async (url, options = {}) => {
    try {
      const how = { signal: AbortSignal.timeout(LIMIT), redirect: "error", ...options };
      const answer = await fetch(url, { ...how, headers: { "HX-Request": "true" } });
      tell(answer.status >= 500, answer.status === 401);
      return answer;
    } catch {
      tell(true);
      return null;
    }
  };

  const notify = (waiting) => {
    if (!("Notification" in window) || localStorage.getItem("notify") !== "on") return;
    if (Notification.permission !== "granted") return;
    const body = waiting === 1 ? "One call is waiting for your answer." : `${waiting} calls are waiting for your answer.`;
    new Notification("sayso", { body, tag: "sayso" }).onclick = () => window.focus();
  };

  const count = (waiting) => {
    document.title = (waiting ? `(${waiting}) ` : "") + bare;
    find("waiting").textContent = waiting || "";
    if (waiting > known && document.hidden) notify(waiting);
    known = waiting;
  };

  // A hidden page closes its stream and polls, because a browser has only six connections for all
  // pages. A page that has lost its stream polls too.
  const look = async () => {
    const answer = await ask("/console/approvals/waiting");
    if (!answer?.ok) return;
    count(+(await answer.text()));
    if (!document.hidden) find("live")?.dispatchEvent(new CustomEvent("fresh"));
  };
  if (find("waiting")) {
    const hear = (isThere) => { isHeard = isThere; heard = Date.now(); };
    main.addEventListener("htmx:sse:after:connection", () => { hear(true); tell(false, false); });
    main.addEventListener("htmx:sse:after:message", () => hear(true));
    main.addEventListener("htmx:sse:close", () => hear(false));
    main.addEventListener("htmx:sse:error", (event) => {
      hear(false);
      tell(event.detail.status !== 401, event.detail.status === 401);
    });
    main.addEventListener("questions", (event) => count(+event.detail.data));
    addEventListener("offline", () => tell(true));
    addEventListener("online", look);
    document.addEventListener("visibilitychange", () => document.hidden || look());
    setInterval(() => {
      if (document.hidden || !isHeard || Date.now() - heard > SILENT) look();
    }, LOOK);
  }

  const left = (seconds) => {
    const whole = Math.max(0, seconds | 0), minutes = (whole / 60) | 0;
    return minutes ? `${minutes} min ${whole % 60} s` : `${whole} s`;
  };
  setInterval(() => {
    if (document.hidden) return;
    for (const clock of all("[data-until]"))
      clock.textContent = left(clock.dataset.until - Date.now() / 1000);
  }, 1000);

  // Send a form only once (`data-once`). Send a form with `data-part` without leaving the page.
  const post = async (form, submitter) => {
    const body = new URLSearchParams(new FormData(form, submitter));
    const answer = await ask(form.action, { method: "POST", body });
    const told = form.querySelector("[data-told]");
    if (answer?.ok) return form.dispatchEvent(new CustomEvent("done", { bubbles: true }));
    delete form.dataset.sent;
    if (!told) return;
    told.hidden = false;
    told.textContent = !answer || answer.status >= 500
      ? "sayso did not respond, so your answer may or may not have arrived. It counts at most once."
      : answer.status === 401 ? "Nothing was answered."
      : answer.headers.get("content-type")?.startsWith("text/plain") ? await answer.text()
      : "Nothing was answered. Reload this page and try again.";
  };
  document.addEventListener("submit", (event) => {
    const form = event.target;
    const isAnswer = event.submitter?.name === "verdict";
    if (event.submitter?.ariaDisabled === "true" || (isAnswer && isBarred) || form.dataset.sent) return event.preventDefault();
    if ("once" in form.dataset) form.dataset.sent = "yes";
    if (!("part" in form.dataset)) return;
    event.preventDefault();
    post(form, event.submitter);
  });
  document.addEventListener("done", () => find("live")?.dispatchEvent(new CustomEvent("fresh")));

  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("[data-copy]");
    if (!button) return;
    await navigator.clipboard.writeText(find(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });

  // A page that comes from the browser's back/forward cache may be out of date.
  addEventListener("pageshow", (event) => event.persisted && location.reload());

  // Keyboard shortcuts. In an open dialog, a letter presses its button; elsewhere, `keys` apply.
  const keys = {
    "?": () => find("keys").showModal(),
    "/": () => document.querySelector("[type=search]")?.focus(),
    j: () => go(1),
    k: () => go(-1),
  };
  const go = (step) => {
    const links = all("[data-go]").filter((one) => one.offsetParent);
    const row = document.activeElement?.closest("[data-row]");
    const at = links.findIndex((one) => row?.contains(one));
    links[at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step]?.focus();
  };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const dialog = opened(), target = event.target;
    // If Enter opens a dialog and is held down, it must not press a button in that dialog.
    if (event.key === "Enter" && event.repeat && !target.closest?.("textarea"))
      return event.preventDefault();
    if (target.closest?.("input:not([type=hidden]), textarea, select")) return;
    if (!dialog && Object.hasOwn(keys, event.key)) {
      event.preventDefault();
      return keys[event.key](event);
    }
    const found = /^[a-z]$/.test(event.key) && dialog?.querySelector(`[data-key="${event.key}"]`);
    if (!found || event.repeat) return;
    event.preventDefault();
    found.click();
    if (found.matches("summary"))
      found.parentElement.querySelector("input:not([type=hidden], :disabled), textarea")?.focus();
  });
  find("show-keys")?.addEventListener("click", keys["?"]);
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("[data-close]")) event.target.closest("dialog").close();
  });

  arm(document);
  return { all, arm, ask, find, keys, main, move_notes };
})();
