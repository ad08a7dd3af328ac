"use strict";
// What the tools' pages add to plain forms.
(() => {
  // Whoever answers the question of a try stays with the try.
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (event.defaultPrevented || !document.getElementById("far") || !form.action.endsWith("/answer")) return;
    event.preventDefault();
    const body = new URLSearchParams(new FormData(form, event.submitter));
    try {
      const answer = await fetch(form.action, { method: "POST", body, redirect: "manual" });
      if (answer.type === "opaqueredirect") return location.reload();
    } catch {
      // The question's own page says how things stand.
    }
    location.assign(form.action.replace(/\/answer$/, ""));
  });
})();
