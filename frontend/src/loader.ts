// What a notebook stores of each widget in place of the app: it asks Python for the app when it is shown, and carries
// the app's messages. Panel runs it too.

import type { Connect, Told } from "./protocol";

// What anywidget gives, and Panel, whose model sends no messages: there they are the value of `outbox`.
export interface Model {
  on(event: "msg:custom", take: (message: FromPython) => void): void;
  off(event: "msg:custom", take: (message: FromPython) => void): void;
  send?(message: unknown): void;
  set?(name: string, value: unknown): void;
  save_changes?(): void;
}

interface FromPython {
  view: string;
  text?: string;
  taken?: number;
  app?: Told;
}

type Sent = { view: string; number: number; text?: string; wants?: "app"; is_closed?: boolean };

// The messages of one view of a widget: it may be shown several times.
function mailOf(model: Model): { send(message: Partial<Sent>): void; listen(take: (message: FromPython) => void): void; close(): void } {
  const view = `${Math.random()}`.slice(2), takers: ((message: FromPython) => void)[] = [];
  let count = 0, outbox: Sent[] = [];
  const take = (message: FromPython) => {
    if (message.view !== view) return;
    const { taken } = message;
    if (taken !== undefined) outbox = outbox.filter(({ number }) => number > taken);
    for (const taker of takers) taker(message);
  };
  model.on("msg:custom", take);
  return {
    send(message) {
      const whole = { ...message, view, number: (count += 1) };
      if (model.send) return model.send(whole);
      outbox = [...outbox, whole]; // Panel takes the last of several values: each has what may not have been taken yet
      model.set?.("outbox", outbox);
      model.save_changes?.();
    },
    listen: (taker) => takers.push(taker),
    close: () => model.off("msg:custom", take),
  };
}

export default {
  async render({ model, el }: { model: Model; el: HTMLElement }): Promise<() => void> {
    const mail = mailOf(model);
    const told = await new Promise<Told>((resolve) => {
      mail.listen(({ app }) => app && resolve(app));
      mail.send({ wants: "app" });
    });
    const connect: Connect = ({ open, message }) => {
      mail.listen(({ text }) => text !== undefined && message(text));
      queueMicrotask(open);
      return { send: (text) => mail.send({ text }), close: () => {} };
    };
    // Each view has an app of its own, with a state of its own: so the module is made anew.
    const url = URL.createObjectURL(new Blob([told.script], { type: "text/javascript" }));
    const { default: app } = await (import(url) as Promise<typeof import("./notebook")>);
    URL.revokeObjectURL(url);
    const end = app.render(el, told, connect);
    return () => {
      end();
      mail.send({ is_closed: true });
      mail.close();
    };
  },
};
