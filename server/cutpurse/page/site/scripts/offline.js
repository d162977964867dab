// The service worker of the site, which keeps its files. `cutpurseOffline` is settled once it answers for this page, or
// if this browser has none: then everything works, and comes from the network again.
"use strict";

globalThis.cutpurseOffline = (async (own) => {
  if (!navigator.serviceWorker) return;
  const { installing, waiting, active } = await navigator.serviceWorker.register(new URL("../service_worker.js", own));
  const worker = installing ?? waiting ?? active;
  const isSettled = () => ["activated", "redundant"].includes(worker.state);
  while (!isSettled()) await new Promise((settle) => { worker.addEventListener("statechange", settle, { once: true }); });
  if (worker.state === "activated" && !navigator.serviceWorker.controller) {
    // It took the pages over when it began, but not one that was just being loaded; and Shift+Reload goes past it.
    const { port1: answer, port2 } = new MessageChannel();
    await new Promise((settle) => { answer.onmessage = settle; worker.postMessage("claim", [port2]); });
  }
})(document.currentScript.src).catch(() => {});
