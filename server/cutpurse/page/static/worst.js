// The worst decisions of a seat: search looks for them beside the page, and they come in place of the button.
"use strict";

document.addEventListener("submit", async (event) => {
  const form = event.target.closest(".look-for-worst");
  if (!form) return;
  event.preventDefault();
  const button = form.querySelector("button"), status = form.querySelector("[role=status]"), place = form.parentElement;
  const body = new URLSearchParams(new FormData(form, button));
  button.disabled = true;
  status.textContent = form.dataset.waits;
  const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "text/html" } }).catch(() => null);
  const page = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html"); // it leads back to the match
  const found = page && page.getElementById(place.id);
  if (found) { place.replaceWith(document.importNode(found, true)); return; }
  button.disabled = false;
  status.textContent = form.dataset.failed;
});
