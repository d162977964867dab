// Keeps the files of the site for the next visit, also without a network. The build puts VERSION, PAGES, POLICY and FRESH
// before this: the hash of all files but those of a league, the files of a visit's beginning, the policy that each file is
// answered with, and how names of files of a league begin: the network is asked for these first, as they change often.
"use strict";

addEventListener("install", (event) => {
  event.waitUntil((async () => {
    await (await caches.open(VERSION)).addAll(PAGES.map((page) => new Request(page, { cache: "no-cache" })));
    await skipWaiting();
  })());
});
addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) if (name !== VERSION && name.startsWith(`${registration.scope} `)) await caches.delete(name);
    await clients.claim();
  })());
});
addEventListener("message", (event) => {
  event.waitUntil(clients.claim().then(() => event.ports[0].postMessage("claimed")));
});
addEventListener("fetch", (event) => {
  if (event.request.method === "GET") event.respondWith(answer(event.request));
});

async function answer(request) {
  const address = new URL(request.url);
  if (address.origin !== location.origin) return Response.error(); // nothing goes to another host
  address.search = "";
  if (address.pathname.endsWith("/")) address.pathname += "index.html";
  const cache = await caches.open(VERSION).catch(() => null); // storage may be forbidden
  const found = await cache?.match(address.href);
  const isFresh = FRESH.includes(address.href.slice(registration.scope.length).split(/[/.]/)[0]);
  if (found && !isFresh) return guarded(found);
  const fresh = await fetch(request).catch((problem) => { if (found) return found; throw problem; });
  if (fresh === found) return guarded(found);
  if (fresh.ok) await cache?.put(address.href, fresh.clone()).catch(() => {}); // or full
  return guarded(fresh);
}

function guarded(answered) {
  const headers = new Headers(answered.headers);
  headers.set("Content-Security-Policy", POLICY);
  return new Response(answered.body, { status: answered.status, statusText: answered.statusText, headers });
}
