"use strict";
// Keeps the page true without a reload; without it, a reload does the same.
(() => {
  const ARM = 500, POLL = 1000, HIDDEN = 5000, LIMIT = 10000;
  const find = (id) => document.getElementById(id);
  const bare = document.title.replace(/^\(\d+\) /, "");
  let seen = find("live")?.dataset.version ?? "";

  // A second click must not answer a question that has just come up under it.
  const arm = (root) => {
    for (const button of root.querySelectorAll("button[value=allow]")) {
      button.disabled = true;
      setTimeout(() => (button.disabled = false), ARM);
    }
  };

  const left = (seconds) => {
    const whole = Math.max(0, Math.floor(seconds)), minutes = Math.floor(whole / 60);
    return minutes ? `${minutes} min ${whole % 60} s` : `${whole} s`;
  };

  const tick = () => {
    for (const clock of document.querySelectorAll("[data-until]"))
      clock.textContent = left(clock.dataset.until - Date.now() / 1000);
  };

  // What was settled elsewhere keeps its place: nothing moves under the hand.
  const settle = (card, row) => {
    const form = card.querySelector("form");
    if (!form) return;
    const note = document.createElement("p");
    note.className = "answer settled";
    note.tabIndex = -1;
    note.textContent = row?.querySelector(".outcome").textContent ?? "It waits no longer.";
    const hadFocus = form.contains(document.activeElement);
    form.replaceWith(note);
    if (hadFocus) note.focus();
  };

  const swap = (fresh, id) => {
    const focused = document.activeElement?.id, part = fresh.querySelector(`#${id}`);
    find(id).hidden = part.hidden;
    find(id).replaceChildren(...part.childNodes);
    if (focused && document.activeElement === document.body) find(focused)?.focus();
  };

  const show = (html) => {
    const fresh = new DOMParser().parseFromString(html, "text/html").getElementById("live");
    const waiting = Number(fresh.dataset.waiting);
    seen = fresh.dataset.version;
    document.title = (waiting ? `(${waiting}) ` : "") + bare;
    find("waiting").textContent = waiting || "";
    if (!find("live")) return;
    for (const card of find("pending").children)
      if (!fresh.querySelector(`#${card.id}`))
        settle(card, fresh.querySelector(card.id.replace("approval", "#recent")));
    for (const card of fresh.querySelectorAll("#pending > *"))
      if (!find(card.id)) {
        find("pending").append(card);
        arm(card);
      }
    find("tally").textContent = fresh.querySelector("#tally").textContent;
    find("nothing").hidden = waiting > 0;
    swap(fresh, "recent");
    tick();
  };

  let timer = 0, isAsking = false;
  const poll = async () => {
    if (isAsking) return;
    let isLost = false;
    isAsking = true;
    clearTimeout(timer);
    try {
      const url = `/console/approvals/live?seen=${seen}`;
      const answer = await fetch(url, { signal: AbortSignal.timeout(LIMIT), redirect: "error" });
      if (answer.status === 200) show(await answer.text());
      find("out").hidden = answer.status !== 401;
      isLost = answer.status >= 500;
    } catch {
      isLost = true;
    }
    find("lost").hidden = !isLost;
    isAsking = false;
    timer = setTimeout(poll, document.hidden ? HIDDEN : POLL);
  };

  // The first click counts, and locks the form.
  document.addEventListener("submit", (event) => {
    const data = event.target.dataset;
    if (data.sent) event.preventDefault();
    else if ("once" in data) data.sent = "yes";
  });

  // A page that the browser kept may show what is long answered.
  addEventListener("pageshow", (event) => event.persisted && location.reload());
  document.addEventListener("visibilitychange", () => document.hidden || poll());

  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(find(button.dataset.copy).textContent);
      button.textContent = "Copied";
    });
  }

  arm(document);
  setInterval(tick, 1000);
  timer = setTimeout(poll, POLL);
})();
