"use strict";
// Behaviour of the forms on the pages of tools and tries.
(() => {
  // Stay on the page of a try after answering its question.
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (event.defaultPrevented || !document.getElementById("far") || !form.action.endsWith("/answer")) return;
    event.preventDefault();
    const body = new URLSearchParams(new FormData(form, event.submitter));
    try {
      const answer = await fetch(form.action, { method: "POST", body, redirect: "manual" });
      if (answer.type === "opaqueredirect") return location.reload();
    } catch {
      // The question's own page shows the state.
    }
    location.assign(form.action.replace(/\/answer$/, ""));
  });
})();
