// New messages of the table above those that the page was sent with. Without this file the page shows
// the messages that were there when it was read.
(() => {
  const panel = document.querySelector("[data-peek]");
  if (!panel || !window.ReadableStream) return;
  const MOST_ROWS = 200;
  const AGAIN_MS = 5000;
  const asked = JSON.parse(panel.dataset.asked); // sent in the body: no log has the key
  const rows = panel.querySelector("[data-peek-rows]");
  const pattern = document.getElementById("peek-row").content.querySelector("tr");
  const state = document.querySelector("[data-peek-state]");
  const button = document.querySelector("[data-peek-hold]");
  const counted = document.querySelector("[data-peek-count]");
  const waiting = [];
  let held = false;
  let pointed = false;
  let away = "Connecting"; // until the stream has begun, a new message may be missed

  const isHeld = () => held || pointed || rows.contains(document.activeElement);
  const tell = () => {
    const words = away || (isHeld() ? `Held${waiting.length ? `, ${waiting.length} new` : ""}` : "Tailing");
    if (state.lastElementChild.textContent !== words) state.lastElementChild.textContent = words;
    state.classList.toggle("off", Boolean(away) || isHeld());
  };

  const made = (message) => {
    const row = pattern.cloneNode(true);
    const part = (name) => row.querySelector(`[data-f="${name}"]`);
    const moment = new Date(message.published_ms);
    const time = part("time").firstElementChild;
    time.dateTime = moment.toISOString();
    time.textContent = `${moment.toLocaleTimeString("en-GB")}.${`${moment.getMilliseconds()}`.padStart(3, "0")}`;
    const operation = part("operation").firstElementChild;
    operation.className = `op ${message.operation}`;
    operation.textContent = message.operation;
    row.dataset.place = message.place;
    const link = part("key");
    link.textContent = message.key_hidden ? "hidden" : message.key || "no key";
    if (asked.key) {
      part("m").value = message.place;
    } else {
      const address = `${panel.dataset.row}&m=${message.place}`;
      link.href = `${address}#message`;
      link.setAttribute("hx-get", address);
    }
    part("summary").textContent = message.summary;
    return row;
  };

  const flush = () => {
    if (!isHeld() && waiting.length) {
      panel.querySelector("[data-peek-empty]")?.remove();
      for (const message of waiting.splice(0)) {
        const row = made(message);
        rows.prepend(row);
        window.htmx?.process(row);
      }
      while (rows.children.length > MOST_ROWS) rows.lastElementChild.remove();
    }
    tell();
  };

  const count = ({ seen, shown, skipped }) => {
    if (!seen && !skipped) return;
    const left = seen - shown;
    const parts = [`${seen.toLocaleString("en-GB")} rows in the last second`];
    if (left > 0) parts.push(`${shown.toLocaleString("en-GB")} of them shown`);
    if (skipped) parts.push(`${skipped.toLocaleString("en-GB")} offsets not read`);
    counted.textContent = `${parts.join(", ")}. A key filter shows all rows of a key.`;
  };

  // The stream. An EventSource cannot send a body, so its lines are read here.
  const taken = {
    row: (data) => {
      waiting.push(data);
      if (waiting.length > MOST_ROWS) waiting.shift();
      flush();
    },
    count: (data, number) => {
      asked.after = number || asked.after;
      if (!asked.key) count(data);
    },
    problem: (data) => { throw new Error(data.detail); },
  };
  const take = (block) => {
    const field = (name) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? "";
    if (field("data")) taken[field("event")]?.(JSON.parse(field("data")), field("id"));
  };
  const read = async () => {
    const headers = { "Content-Type": "application/json", ...JSON.parse(document.body.getAttribute("hx-headers") || "{}") };
    const answer = await fetch(panel.dataset.peek, { method: "POST", headers, body: JSON.stringify(asked) });
    if (!answer.ok) throw new Error((await answer.json()).detail);
    away = "";
    tell();
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const blocks = (text + value).split("\n\n");
      text = blocks.pop();
      blocks.forEach(take);
    }
  };
  const follow = async () => {
    try {
      await read(); // a stream ends after some minutes
    } catch (error) {
      away = error instanceof TypeError || error instanceof SyntaxError ? "Not connected; trying again" : error.message;
      tell();
    }
    setTimeout(follow, AGAIN_MS);
  };

  button.addEventListener("click", () => {
    held = !held;
    button.setAttribute("aria-pressed", String(held));
    flush();
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof Element && event.target.matches("input, select, textarea");
    if (event.key === "p" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey && document.body.dataset.keys !== "off") button.click();
  });
  rows.addEventListener("focusin", tell);
  rows.addEventListener("focusout", () => setTimeout(flush, 0));
  rows.addEventListener("pointerenter", () => { pointed = true; tell(); });
  rows.addEventListener("pointerleave", () => { pointed = false; flush(); });
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.target.id !== "message") return;
    const place = document.getElementById("message").dataset.place;
    for (const each of rows.children) each.classList.toggle("sel", each.dataset.place === place);
    event.target.scrollIntoView({ block: "nearest" });
  });
  state.hidden = button.hidden = false;
  tell();
  follow();
})();
