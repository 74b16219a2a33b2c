// The parts of pages beyond forms and links: live parts, previews, drafts, the keyboard. Every page works without it.
(() => {
  "use strict";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Choosers submit themselves; their button is for who has no script.
  for (const form of all("form[data-submit-on-change]")) {
    form.addEventListener("change", () => form.requestSubmit());
    for (const button of all("button", form)) button.hidden = true;
  }

  // Changes only what differs, so that the focus, a selection and what is open stay.
  const update = (from, to) => {
    if (from.nodeName !== to.nodeName) return from.replaceWith(to);
    if (from.nodeType !== Node.ELEMENT_NODE) {
      if (from.data !== to.data) from.data = to.data;
      return;
    }
    for (const name of from.getAttributeNames()) if (name !== "open" && !to.hasAttribute(name)) from.removeAttribute(name);
    for (const { name, value } of to.attributes) if (from.getAttribute(name) !== value) from.setAttribute(name, value);
    const [before, after] = [[...from.childNodes], [...to.childNodes]];
    after.forEach((node, index) => before[index] ? update(before[index], node) : from.append(node));
    before.slice(after.length).forEach((node) => node.remove());
  };

  // Live parts: the server sends the HTML of a part whenever it changes.
  let paused = false;
  const title = document.title;
  for (const part of all("[data-live]")) {
    let source, waits = 1000;
    const open = () => {
      source = new EventSource(part.dataset.live);
      source.addEventListener("part", (event) => {
        waits = 1000;
        if (paused || part.contains(document.activeElement) && document.activeElement.matches("input,select,textarea")) return;
        const data = JSON.parse(event.data);
        const next = part.cloneNode(false);
        next.innerHTML = data.html;
        update(part, next);
        document.title = data.count ? `(${data.count}) ${title}` : title;
      });
      source.addEventListener("end", () => source.close());
      source.onerror = () => {
        source.close();
        setTimeout(open, waits);
        waits = Math.min(waits * 2, 60000);
      };
    };
    open();
    const button = document.querySelector(`[data-pause="${part.id}"]`);
    if (button) {
      button.hidden = false;
      button.addEventListener("click", () => {
        paused = !paused;
        button.setAttribute("aria-pressed", paused);
      });
    }
  }

  // Previews: the form is posted as it stands, a moment after the last key, and the answer replaces the part.
  for (const form of all("form[data-preview]")) {
    const part = document.getElementById(form.dataset.previewPart);
    let timer, running;
    const show = async () => {
      running?.abort();
      running = new AbortController();
      try {
        const response = await fetch(form.dataset.preview, { method: "POST", body: new URLSearchParams(new FormData(form)), signal: running.signal });
        if (response.ok) part.innerHTML = await response.text();
      } catch (error) {
        if (error.name !== "AbortError") part.dataset.stale = "true";
      }
    };
    form.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(show, 250);
    });
    show();
  }

  // Drafts survive a closed tab, in this browser only, and go once they are sent.
  for (const form of all("form[data-draft]")) {
    const key = `draft:${location.pathname}:${form.dataset.draft}`;
    const fields = () => [...form.elements].filter((field) => field.name && !["csrf", "key"].includes(field.name) && !["password", "file", "hidden"].includes(field.type));
    const saved = localStorage.getItem(key);
    if (saved && !form.querySelector("[aria-invalid]") && !form.dataset.filled) {
      try {
        const values = JSON.parse(saved);
        for (const field of fields()) {
          if (!(field.name in values)) continue;
          if (["checkbox", "radio"].includes(field.type)) field.checked = values[field.name].includes(field.value);
          else field.value = values[field.name][0] ?? "";
        }
        form.dispatchEvent(new Event("input"));
      } catch { localStorage.removeItem(key); }
    }
    form.addEventListener("input", () => {
      const values = {};
      for (const field of fields()) {
        values[field.name] ??= [];
        if (!["checkbox", "radio"].includes(field.type) || field.checked) values[field.name].push(field.value);
      }
      localStorage.setItem(key, JSON.stringify(values));
    });
    if (document.querySelector("[data-sent]")) localStorage.removeItem(key);
    form.addEventListener("submit", () => localStorage.removeItem(key));
  }

  // The keyboard: ⌘↵ or Ctrl-↵ sends the form, / goes to the search field, Escape closes what asks.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) event.target.form?.requestSubmit();
    if (event.key === "Escape") for (const details of all("details.confirm[open]")) details.open = false;
    if (event.key === "/" && !event.target.matches("input,select,textarea")) {
      const search = document.querySelector("[data-search]");
      if (search) { event.preventDefault(); search.focus(); }
    }
  });

  // One click sends a form once.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.dataset.sending) return event.preventDefault();
    form.dataset.sending = "true";
    setTimeout(() => delete form.dataset.sending, 3000);
  });
  for (const button of all("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => navigator.clipboard?.writeText(document.getElementById(button.dataset.copy).textContent));
  }
})();
