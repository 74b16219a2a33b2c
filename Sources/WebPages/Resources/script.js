// The parts of pages beyond forms and links: live parts, previews, drafts, the keyboard. Every page works without it.
(() => {
  "use strict";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Choosers submit themselves; their button is for who has no script.
  for (const form of all("form[data-submit-on-change]")) {
    form.addEventListener("change", () => form.requestSubmit());
    for (const button of all("button", form)) button.hidden = true;
  }

  // Live parts: the server sends the HTML of a part whenever it changes. A hidden tab has no stream, because a browser opens
  // six connections at most to a server without HTTP/2.
  let paused = false;
  const title = document.title;
  for (const part of all("[data-live]")) {
    let source, timer, ended = false, waits = 1000;
    const close = () => {
      clearTimeout(timer);
      source?.close();
      source = undefined;
    };
    const open = () => {
      close();
      source = new EventSource(part.dataset.live);
      source.addEventListener("part", (event) => {
        waits = 1000;
        if (paused || part.contains(document.activeElement) && document.activeElement.matches("input,select,textarea")) return;
        const data = JSON.parse(event.data);
        part.innerHTML = data.html;
        document.title = data.count ? `(${data.count}) ${title}` : title;
      });
      source.addEventListener("end", () => {
        ended = true;
        close();
      });
      source.onerror = () => {
        close();
        timer = setTimeout(open, waits);
        waits = Math.min(waits * 2, 60000);
      };
    };
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) close();
      else if (!ended) open();
    });
    if (!document.hidden) open();
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
        // A redirect leads to the page for signing in, which is no preview.
        if (response.ok && !response.redirected) part.innerHTML = await response.text();
        else if (response.redirected) part.dataset.stale = "true";
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

  // Drafts survive a closed tab, in this browser only, and go once they are sent or the person signs out.
  for (const form of all("form[data-sign-out]")) {
    form.addEventListener("submit", () => {
      for (const key of Object.keys(localStorage)) if (key.startsWith("draft:")) localStorage.removeItem(key);
    });
  }
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
