// What copies a text.

// A click on `button` copies the text of `shown`; where the browser does not let it, the text is chosen.
export function copies(button, shown) {
  const named = button.textContent;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(shown.textContent);
      button.textContent = "copied";
    } catch {
      const range = document.createRange();
      range.selectNodeContents(shown);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      button.textContent = "selected: press Ctrl+C";
      button.dataset.chosen = "yes";
    }
    setTimeout(() => {
      button.textContent = named;
      delete button.dataset.chosen;
    }, 2000);
  });
}
