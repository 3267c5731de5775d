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
  Object.assign(input, { type: "text", value: choice.value, size, spellcheck: false });
  if (choice.choices.length) {
    const list = document.createElement("datalist");
    list.id = `ix-panel-${(lists += 1)}`;
    list.append(...choice.choices.map((name) => new Option(name, name)));
    input.setAttribute("list", list.id);
    label.append(list);
  }
  input.addEventListener("change", () => ask(choice.name, input.value));
  // a notebook takes letters for commands
  input.addEventListener("keydown", (event) => event.stopPropagation());
  return label;
}

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
  Object.assign(image, { src: picture, alt: what });
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
    sheet.textContent = model.get("style");
    answer.className = "ix-answer";
    answer.setAttribute("aria-live", "polite");
    bar.addEventListener("submit", (event) => event.preventDefault());
    const ask = (name, value) => {
      box.setAttribute("aria-busy", "true");
      model.set("request", { name, value, at: Date.now() });
      model.save_changes();
    };
    const choices = () => {
      const more = model.get("can_read_again") ? [button("Read again", () => ask("", ""))] : [];
      bar.replaceChildren(...model.get("choices").map((choice) => control(choice, ask)), ...more);
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
