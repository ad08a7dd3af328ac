"use strict";
// Keeps the page true without a reload; without it, a reload does the same.
(() => {
  const ARM = 500, POLL = 1000, HIDDEN = 5000, LIMIT = 10000;
  const find = (id) => document.getElementById(id);
  const all = (query, root = document) => root.querySelectorAll(query);
  const bare = document.title.replace(/^\(\d+\) /, "");
  let seen = find("live")?.dataset.version ?? "", isLost = false;

  // A second click must not answer what has just come up under it.
  const arm = (root) => {
    for (const button of all("[value=allow]", root)) {
      button.disabled = true;
      setTimeout(() => (button.disabled = isLost), ARM);
    }
  };

  const left = (seconds) => {
    const whole = Math.max(0, seconds | 0), minutes = (whole / 60) | 0;
    return minutes ? `${minutes} min ${whole % 60} s` : `${whole} s`;
  };

  const tick = () => {
    for (const clock of all("[data-until]"))
      clock.textContent = left(clock.dataset.until - Date.now() / 1000);
  };

  // What was settled elsewhere keeps its place: nothing moves under the hand.
  const settle = (card) => {
    const form = card.querySelector("form"), note = document.createElement("p");
    if (!form) return;
    note.className = "answer settled";
    note.tabIndex = -1;
    note.textContent = "It waits no longer.";
    note.dataset.of = card.id.replace("approval", "end");
    const hadFocus = form.contains(document.activeElement);
    form.replaceWith(note);
    if (hadFocus) note.focus();
  };

  const swap = (old, part) => {
    const focused = document.activeElement.id;
    old.hidden = part.hidden;
    if (old.innerHTML !== part.innerHTML) old.replaceChildren(...part.cloneNode(true).childNodes);
    if (focused && document.activeElement === document.body) find(focused)?.focus();
  };

  const show = (html) => {
    const fresh = new DOMParser().parseFromString(html, "text/html").getElementById("live");
    const get = (id) => fresh.querySelector(`#${id}`), waiting = +fresh.dataset.waiting;
    seen = fresh.dataset.version;
    document.title = (waiting ? `(${waiting}) ` : "") + bare;
    find("waiting").textContent = waiting || "";
    if (find("live")) {
      for (const card of find("pending").children) if (!get(card.id)) settle(card);
      for (const card of all("#pending > *", fresh))
        if (!find(card.id)) arm(find("pending").appendChild(card.cloneNode(true)));
      for (const id of ["tally", "recent"]) swap(find(id), get(id));
      find("nothing").hidden = waiting > 0;
    }
    for (const old of all("[data-of]")) swap(old, get(old.dataset.of) ?? old);
    tick();
  };

  let timer = 0, isAsking = false;
  const poll = async () => {
    if (isAsking) return;
    const wasLost = isLost;
    isAsking = true;
    clearTimeout(timer);
    try {
      const how = { signal: AbortSignal.timeout(LIMIT), redirect: "error" };
      const answer = await fetch(`/console/approvals/live?seen=${seen}`, how);
      if (answer.status === 200) show(await answer.text());
      find("out").hidden = answer.status !== 401;
      isLost = answer.status >= 500;
    } catch {
      isLost = true;
    }
    find("lost").hidden = !isLost;
    if (isLost !== wasLost) for (const button of all("[name=verdict]")) button.disabled = isLost;
    if (wasLost) arm(document);
    isAsking = false;
    timer = setTimeout(poll, document.hidden ? HIDDEN : POLL);
  };

  // The first click locks the form.
  document.onsubmit = (event) => {
    const data = event.target.dataset;
    if (data.sent) event.preventDefault();
    else if ("once" in data) data.sent = "yes";
  };

  // What the browser kept may be long answered.
  onpageshow = (event) => event.persisted && location.reload();
  document.onvisibilitychange = () => document.hidden || poll();

  for (const button of all("[data-copy]")) {
    button.hidden = false;
    button.onclick = async () => {
      await navigator.clipboard.writeText(find(button.dataset.copy).textContent);
      button.textContent = "Copied";
    };
  }

  arm(document);
  setInterval(tick, 1000);
  timer = setTimeout(poll, POLL);
})();
