// A link of the host has its code after "#", which browsers send to no server. It goes into the form and out of the
// address and the history. Without scripts the whole link can be pasted into the form.
"use strict";

(() => {
  const field = document.querySelector("input[name=token]");
  if (!field || location.hash.length < 2) return;
  field.value = location.hash;
  history.replaceState(null, "", location.pathname);
  document.getElementById("from-link").hidden = false;
  field.form.querySelector("button").focus();
})();
