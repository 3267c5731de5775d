// What a saved notebook stores of each widget instead of the script: it asks Python for that when it is shown.

export default {
  async render({ model, el }) {
    const told = await new Promise((resolve) => {
      const take = (message) => {
        if (!message.script) return;
        model.off("msg:custom", take);
        resolve(message);
      };
      model.on("msg:custom", take);
      model.set("request", { type: "script", at: Date.now() });
      model.save_changes();
    });
    const url = URL.createObjectURL(new Blob([told.script], { type: "text/javascript" }));
    const { default: widget } = await import(url);
    URL.revokeObjectURL(url);
    const sheet = document.createElement("style"), box = document.createElement("div");
    sheet.textContent = told.style;
    el.replaceChildren(sheet, box);
    return widget.render({ model, el: box });
  },
};
