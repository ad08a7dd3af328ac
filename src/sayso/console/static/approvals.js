"use strict";
// The queue's dialog. It is filled when a row is opened.
(() => {
  const { all, arm, ask, find, keys, main, move_notes } = sayso;
  const dialog = find("ask");
  if (!dialog) return;
  let opener = "", isOpening = false;

  const fill = async (text) => {
    await htmx.swap({ sourceElement: dialog, target: dialog, swap: "innerHTML", text });
    const article = dialog.querySelector("article");
    if (!article) return;
    dialog.setAttribute("aria-labelledby", article.dataset.names);
    if (find(article.dataset.tells)) dialog.setAttribute("aria-describedby", article.dataset.tells);
    else dialog.removeAttribute("aria-describedby");
    for (const form of all("form", dialog)) form.dataset.part = "";
    for (const later of all("[data-later]", dialog)) later.hidden = false;
  };

  const open = async (link) => {
    if (isOpening || dialog.open) return;
    isOpening = true;
    const answer = await ask(`${link.pathname}/dialog`);
    if (answer?.ok) {
      await fill(await answer.text());
      opener = link.id;
      arm(dialog);
      dialog.showModal();
      move_notes(dialog);
      const first = dialog.querySelector("[value=deny]") ?? dialog.querySelector(".body");
      first.focus({ preventScroll: true });
    }
    isOpening = false;
  };

  // After an answer the row is still there, and gets the focus back. The browser sends this event some
  // time after closing, so do not take the focus from an element that a person has focused since.
  dialog.addEventListener("close", () => {
    move_notes(main);
    if (document.activeElement === document.body) (find(opener) ?? main).focus();
    fill("");
  });
  dialog.addEventListener("click", (event) => {
    if (event.target.closest("[data-later]")) dialog.close();
  });
  dialog.addEventListener("done", (event) => {
    if (event.target.matches("[data-answer]")) dialog.close();
  });

  // If the question was settled elsewhere, a message replaced its buttons: focus the message.
  dialog.addEventListener("htmx:after:swap", () => {
    if (!dialog.open || dialog.contains(document.activeElement) && document.activeElement !== dialog) return;
    dialog.querySelector("[data-ended]")?.focus({ preventScroll: true });
  });

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[data-dialog]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(link);
  });

  // On a row these keys only open the question, because a person must read it before answering.
  for (const key of ["a", "d", "e"])
    keys[key] = () => {
      const link = document.activeElement?.closest("[data-row]")?.querySelector("a[data-dialog]");
      if (link) open(link);
    };

  const button = document.querySelector("[data-notify]");
  if (!button || !("Notification" in window)) return;
  const isOn = () => Notification.permission === "granted" && localStorage.getItem("notify") === "on";
  const show = () => {
    button.hidden = false;
    button.textContent = isOn() ? "Stop desktop notifications"
      : Notification.permission === "denied" ? "This browser blocks notifications"
      : "Notify me on this desktop";
  };
  button.addEventListener("click", async () => {
    const wanted = !isOn();
    if (wanted) await Notification.requestPermission();
    localStorage.setItem("notify", wanted && Notification.permission === "granted" ? "on" : "off");
    show();
  });
  show();
})();
