// A tree whose parts are asked for when they are unfolded. All names in it are texts.

export interface Leaf {
  name: string;
  // What the pointer shows of it.
  title?: string;
  press(): void;
}

export interface Branch {
  name: string;
  parts(): Promise<(Branch | Leaf)[]>;
}

// An element for a part of a tree.
export function partOf(part: Branch | Leaf, level: number): HTMLElement {
  const item = document.createElement("li"), button = document.createElement("button");
  item.setAttribute("role", "none");
  button.type = "button";
  button.setAttribute("role", "treeitem");
  button.setAttribute("aria-level", String(level));
  button.style.paddingInlineStart = `${8 + 14 * (level - 1)}px`;
  button.append(part.name);
  button.title = ("title" in part && part.title) || part.name;
  item.append(button);
  if ("press" in part) {
    button.className = "icedive-leaf";
    button.addEventListener("click", () => part.press());
    return item;
  }
  const list = document.createElement("ul");
  list.setAttribute("role", "group");
  let isAsked = false;
  const fold = (isOpen: boolean): void => {
    list.hidden = !isOpen;
    button.setAttribute("aria-expanded", String(isOpen));
  };
  fold(false);
  button.addEventListener("click", () => {
    fold(Boolean(list.hidden));
    if (isAsked) return;
    isAsked = true;
    fill(list, part.parts(), level + 1).catch(() => (isAsked = false));
  });
  item.append(list);
  return item;
}

// Put the parts of a tree into a list when they are known, or that there are none, or what is wrong.
export async function fill(list: HTMLElement, parts: Promise<(Branch | Leaf)[]>, level: number, none = "empty"): Promise<void> {
  list.replaceChildren(note("Reading…"));
  try {
    const known = await parts;
    list.replaceChildren(...(known.length ? known.map((part) => partOf(part, level)) : [note(none)]));
  } catch (error) {
    list.replaceChildren(note(error instanceof Error ? error.message : String(error)));
    throw error;
  }
}

function note(text: string): HTMLElement {
  const item = document.createElement("li");
  item.className = "icedive-note";
  item.setAttribute("role", "none");
  item.textContent = text;
  return item;
}
