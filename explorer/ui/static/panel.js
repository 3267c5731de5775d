// A panel in a notebook: the choices of a question as the browser's own controls, and below them its answer.

let lists = 0;

function buttons(choice, ask) {
  const box = document.createElement("span");
  box.append(choice.label, ...choice.choices.map((name) => button(name, () => ask(choice.name, name))));
  return box;
}

function button(words, press) {
  const made = document.createElement("button");
  Object.assign(made, { type: "button", textContent: words });
  made.addEventListener("click", press);
  return made;
}

function control(choice, ask) {
  if (choice.kind === "press") return buttons(choice, ask);
  const label = document.createElement("label"), input = document.createElement("input");
  input.dataset.name = choice.name;
  label.append(choice.label, input);
  if (choice.kind === "step") {
    const told = document.createElement("output");
    Object.assign(input, { type: "range", min: "1", max: String(choice.most), value: String(choice.value) });
    const tell = () => (told.value = `${input.value} of ${choice.most}`);
    input.addEventListener("input", tell);
    input.addEventListener("change", () => ask(choice.name, Number(input.value)));
    tell();
    label.append(told);
    return label;
  }
  const size = choice.kind === "filter" ? 40 : 18;
  const { value, hint: placeholder } = choice;
  Object.assign(input, { type: "text", value, placeholder, size, spellcheck: false });
  if (choice.choices.length) {
    const list = document.createElement("datalist");
    list.id = `ix-panel-${(lists += 1)}`;
    list.append(...choice.choices.map((name) => new Option(name, name)));
    input.setAttribute("list", list.id);
    label.append(list);
  }
  input.addEventListener("change", () => ask(choice.name, input.value));
  input.addEventListener("keydown", ({ key }) => { // in JupyterLab Enter changes nothing: leaving the field does
    if (key !== "Enter") return;
    input.blur();
    input.focus();
  });
  return label;
}

const LITTLE = 1.15;

// The picture and the text of an answer, or what went wrong.
function parts({ error, picture, what, text, folded }) {
  if (error) {
    const said = document.createElement("p");
    said.className = "ix-error";
    said.setAttribute("role", "alert");
    said.textContent = error;
    return [said];
  }
  const image = new Image(), words = document.createElement("pre"), more = document.createElement("details");
  Object.assign(image, { src: picture, alt: what, className: "ix-picture" });
  image.addEventListener("load", () => {  // a little wider than there is room it is made to fit, else it scrolls
    image.classList.toggle("ix-fits", image.naturalWidth < LITTLE * (image.parentElement?.clientWidth || 0));
  });
  words.textContent = text;
  more.append(Object.assign(document.createElement("summary"), { textContent: "as text" }), words);
  return [...(picture ? [image] : []), folded ? more : words];
}

export default {
  render({ model, el }) {
    const box = document.createElement("div"), bar = document.createElement("form");
    const answer = document.createElement("div"), sheet = document.createElement("style");
    box.className = "ix-panel";
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", model.get("title"));
    sheet.textContent = model.get("sheet");
    answer.className = "ix-answer";
    answer.setAttribute("aria-live", "polite");
    bar.addEventListener("submit", (event) => event.preventDefault());
    const ask = (name, value) => {
      box.setAttribute("aria-busy", "true");
      model.set("request", { name, value, at: Date.now() });
      model.save_changes();
    };
    // The controls, anew where others can be chosen; what has the focus keeps it, and what is being typed.
    let shape = "";
    const choices = () => {
      const every = model.get("choices"), now = JSON.stringify(every.map((choice) => ({ ...choice, value: 0 })));
      const at = bar.getRootNode().activeElement, key = at?.dataset.name || at?.textContent;
      if (now === shape) {
        for (const input of [...bar.querySelectorAll("input")].filter((one) => one !== at)) {
          input.value = every.find(({ name }) => name === input.dataset.name).value;
          input.dispatchEvent(new Event("input"));
        }
        return;
      }
      shape = now;
      const held = bar.contains(at);
      const more = model.get("can_read_again") ? [button("Read again", () => ask("", ""))] : [];
      bar.replaceChildren(...every.map((choice) => control(choice, ask)), ...more);
      const same = [...bar.querySelectorAll("input, button")];
      for (const one of same) one.dataset.lmSuppressShortcuts = "true"; // or else JupyterLab takes keys for commands
      if (held) same.find((one) => (one.dataset.name || one.textContent) === key)?.focus();
    };
    const show = () => {
      const open = answer.querySelector("details")?.open ?? false;
      answer.replaceChildren(...parts(model.get("answer")));
      answer.querySelector("details")?.toggleAttribute("open", open);
      box.removeAttribute("aria-busy");
    };
    model.on("change:choices", choices);
    model.on("change:answer", show);
    choices();
    show();
    box.append(sheet, bar, answer);
    el.replaceChildren(box);
    return () => {
      model.off("change:choices", choices);
      model.off("change:answer", show);
    };
  },
};
