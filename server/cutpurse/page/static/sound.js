// Sounds of a table, off until somebody switches them on: short tones, which the browser makes itself.
"use strict";

(() => {
  const button = document.getElementById("sound"), root = document.getElementById("moment");
  if (!button || !root || !window.AudioContext) return;
  const TUNES = { over: [523, 659, 784], fault: [196, 185], steal: [392, 262], move: [440] }; // Hz, one after the other
  const STEP_S = 0.11, LOUDNESS = 0.06;
  let context = null;

  const tone = (pitch, at) => {
    const start = context.currentTime + at, gain = context.createGain(), voice = context.createOscillator();
    voice.type = "triangle";
    voice.frequency.value = pitch;
    gain.gain.setValueAtTime(0.0001, start);
    gain.gain.exponentialRampToValueAtTime(LOUDNESS, start + 0.01);
    gain.gain.exponentialRampToValueAtTime(0.0001, start + STEP_S * 1.5);
    voice.connect(gain).connect(context.destination);
    voice.start(start);
    voice.stop(start + STEP_S * 1.5);
  };
  const heard = () => {
    if (root.querySelector(".decided.over, .ends")) return "over";
    const now = [...root.querySelectorAll(".entries .now, .live .told li:first-child")];
    return ["fault", "steal"].find((name) => now.some((one) => one.classList.contains(name))) ?? "move";
  };
  const isOn = () => button.getAttribute("aria-pressed") === "true";
  const turn = (on) => {
    button.setAttribute("aria-pressed", on);
    try { localStorage.setItem("sound", on ? "on" : ""); } catch { /* a frame or a file may keep nothing */ }
    if (on) context ??= new AudioContext();
    context?.[on ? "resume" : "suspend"]();
  };

  document.addEventListener("moment", () => {
    if (isOn() && context.state === "running") TUNES[heard()].forEach((pitch, number) => tone(pitch, number * STEP_S));
  });
  button.hidden = false;
  button.addEventListener("click", () => turn(!isOn()));
  document.addEventListener("keydown", (event) => {
    if (event.key === "m" && !event.ctrlKey && !event.metaKey && !event.altKey && !/INPUT|SELECT|TEXTAREA/.test(event.target.tagName)) turn(!isOn());
  });
  try { if (localStorage.getItem("sound")) turn(true); } catch { /* nothing was kept */ }
  // Browsers let a page sound only after its reader has done something on it.
  for (const name of ["pointerdown", "keydown"]) document.addEventListener(name, () => { if (isOn()) context.resume(); });
})();
