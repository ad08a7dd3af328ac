"use strict";
// The live log and the drawer. Without this script, people follow links and reload the page.
(() => {
  const GAP = 1000;
  const find = (id) => document.getElementById(id);
  const drawer = find("drawer"), tail = find("tail"), pause = find("pause");
  let isPaused = false, timer = 0, newest = +(tail?.dataset.newest ?? 0), missed = 0;

  const say = () => {
    tail.querySelector("[data-tail]").textContent = !isPaused
      ? "New calls appear automatically."
      : missed ? `Paused. ${missed} new ${missed === 1 ? "line" : "lines"} since then.` : "Paused.";
    pause.textContent = isPaused ? "Continue" : "Pause";
    pause.setAttribute("aria-pressed", isPaused);
  };

  // The page fetches at most once a second.
  const fetchSoon = () => {
    if (!timer) timer = setTimeout(() => ((timer = 0), isPaused || htmx.trigger(find("lines"), "fresh")), GAP);
  };

  if (tail) {
    tail.hidden = false;
    find("main").addEventListener("records", (event) => {
      const seq = +event.detail.data, shown = +find("lines").dataset.newest;
      if (seq <= shown) return;
      if (isPaused) (missed = seq - newest), say();
      else fetchSoon();
    });
    pause.onclick = () => {
      isPaused = !isPaused;
      newest = +find("lines").dataset.newest;
      missed = 0;
      say();
      if (!isPaused) htmx.trigger(find("lines"), "fresh");
    };
  }

  // A plain click opens the call in the drawer; other clicks follow the link.
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("[data-drawer]");
    if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    try {
      const answer = await fetch(link.href);
      if (!answer.ok) throw answer;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const close = document.createElement("button");
      close.textContent = "Close";
      close.className = "quiet close";
      close.onclick = () => drawer.close();
      find("inside").replaceChildren(close, document.adoptNode(page.getElementById("call")));
      drawer.showModal();
      drawer.scrollTop = 0;
      // The browser restores the focus, except to a link that was replaced. It sends this event some
      // time after closing, so do not take the focus from an element that was focused since.
      drawer.onclose = () => document.activeElement === document.body && find(link.id)?.focus();
    } catch {
      location.href = link.href;
    }
  });
  drawer?.addEventListener("click", (event) => event.target === drawer && drawer.close());
})();
