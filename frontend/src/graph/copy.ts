// A click on `button` copies the text of `shown`; where the browser does not allow it, the text is selected.
export function copies(button: HTMLButtonElement, shown: HTMLElement): void {
  const label = button.textContent;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(shown.textContent ?? "");
      button.textContent = "copied";
    } catch {
      const range = document.createRange(), selection = getSelection();
      range.selectNodeContents(shown);
      selection?.removeAllRanges();
      selection?.addRange(range);
      button.textContent = "selected: press Ctrl+C";
    }
    setTimeout(() => {
      button.textContent = label;
    }, 2000);
  });
}
