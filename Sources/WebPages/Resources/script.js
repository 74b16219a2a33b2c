// The parts of pages beyond forms and links: live parts, previews, drafts, the keyboard. Every page works without it.
(() => {
  "use strict";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Makes an element's content that of another one, node by node, so that the focus and what is open stay as they are.
  // Rows with data-key keep their elements when others come and go.
  const adopt = (old, fresh) => {
    const keyed = new Map([...old.children].filter((child) => child.dataset.key).map((child) => [child.dataset.key, child]));
    const wanted = new Set([...fresh.children].map((child) => child.dataset.key));
    for (const [key, child] of keyed) if (!wanted.has(key)) child.remove();
    let next = old.firstChild;
    for (const node of [...fresh.childNodes]) {
      const key = node.dataset?.key;
      let found = key ? keyed.get(key) : next?.dataset?.key ? null : next;
      if (found?.nodeName !== node.nodeName) found = null;
      if (!found) { old.insertBefore(node, next); continue; }
      if (found === next) next = next.nextSibling;
      else old.insertBefore(found, next);
      if (found.nodeType !== Node.ELEMENT_NODE) { if (found.data !== node.data) found.data = node.data; continue; }
      for (const { name, value } of [...node.attributes]) if (found.getAttribute(name) !== value) found.setAttribute(name, value);
      for (const { name } of [...found.attributes]) if (name !== "open" && !node.hasAttribute(name)) found.removeAttribute(name);
      adopt(found, node);
    }
    while (next) { const gone = next; next = next.nextSibling; gone.remove(); }
  };
  const show = (part, html) => {
    const template = document.createElement("template");
    template.innerHTML = html;
    adopt(part, template.content);
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
        if (paused) return;
        const data = JSON.parse(event.data);
        show(part, data.html);
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
    const preview = async () => {
      running?.abort();
      running = new AbortController();
      try {
        const response = await fetch(form.dataset.preview, { method: "POST", body: new URLSearchParams(new FormData(form)), signal: running.signal });
        if (response.ok) show(part, await response.text());
      } catch (error) {
        if (error.name !== "AbortError") part.dataset.stale = "true";
      }
    };
    form.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(preview, 250);
    });
    preview();
  }

  // Drafts survive a closed tab, in this browser only. They go once the page says that what was sent is done.
  const sent = sessionStorage.getItem("sent");
  if (sent && document.querySelector(".notice.good[role=status]")) localStorage.removeItem(sent);
  if (!document.querySelector("[data-asks]")) sessionStorage.removeItem("sent");
  for (const form of all("form[data-draft]")) {
    const key = `draft:${location.pathname}:${form.dataset.draft}`;
    const fields = () => [...form.elements].filter((field) => field.name && !["csrf", "key"].includes(field.name) && !["password", "file", "hidden", "submit"].includes(field.type));
    const isBox = (field) => ["checkbox", "radio"].includes(field.type);
    const save = () => {
      const values = {};
      for (const field of fields()) {
        values[field.name] ??= [];
        if (!isBox(field) || field.checked) values[field.name].push(field.value);
      }
      localStorage.setItem(key, JSON.stringify(values));
    };
    const restore = async (values) => {
      // Rows that were added are not in the page yet: the server draws the form with them.
      if (Object.keys(values).some((name) => !form.elements[name])) {
        const body = new URLSearchParams(new FormData(form));
        for (const name in values) {
          body.delete(name);
          for (const value of values[name]) body.append(name, value);
        }
        body.set("action", "edit");
        const response = await fetch(form.getAttribute("action"), { method: "POST", body });
        const page = new DOMParser().parseFromString(await response.text(), "text/html");
        const drawn = page.getElementById(form.id);
        if (response.ok && drawn) adopt(form, drawn);
      }
      for (const field of fields()) {
        if (!(field.name in values)) continue;
        if (isBox(field)) field.checked = values[field.name].includes(field.value);
        else field.value = values[field.name][0] ?? "";
      }
      form.dispatchEvent(new Event("input"));
    };
    const saved = localStorage.getItem(key);
    if (saved && !form.dataset.filled) {
      try { restore(JSON.parse(saved)).catch(() => {}); } catch { localStorage.removeItem(key); }
    }
    form.addEventListener("input", save);
    form.addEventListener("submit", () => {
      save();
      sessionStorage.setItem("sent", key);
    });
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
