// The answer to a question: its messages, pictures, text and rows.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Answer, Block, Form, Progress, Question } from "./protocol";
import { RequestError } from "./protocol";
import { go, server } from "./store";
import { Message, Working } from "./parts";
import { Grid } from "./grid";
import { pictureOf } from "./svg";
import { titleOf } from "./words";

// Ask a question when it changes, and show how far the answer is, and then the answer.
export function Asked({ question, form, open, selected }: {
  question: Question; form: Form; open?: (kind: string, key: string) => void; selected?: string;
}) {
  const [answer, setAnswer] = useState<{ of: string; answer: Answer } | null>(null);
  const [progress, setProgress] = useState<Progress | null>(null);
  const [problem, setProblem] = useState<{ text: string; kind: string } | null>(null);
  const key = JSON.stringify(question), channel = `ask ${question.question}`;
  useEffect(() => {
    let isHere = true;
    setProblem(null);
    setProgress(null);
    const told = (now: Progress) => isHere && setProgress(now);
    server().request<Answer>("ask", question, channel, told, form.writes).then(
      (one) => isHere && setAnswer({ of: key, answer: one }),
      (error: unknown) => {
        if (isHere && error instanceof RequestError) setProblem({ text: error.message, kind: error.kind });
      },
    ).finally(() => isHere && setProgress(null));
    return () => {
      isHere = false;
      server().cancelChannel(channel);
    };
  }, [key]);
  const cancel = () => server().cancelChannel(channel);
  if (problem) return <Message level={problem.kind === "cancelled" ? "ok" : "error"}>{problem.text}</Message>;
  return (
    <div class="asked" aria-busy={answer?.of !== key}>
      {progress && <Working text={progress.text} done={progress.done} total={progress.total} cancel={cancel} />}
      {answer && <AnswerView answer={answer.answer} question={question} stale={answer.of !== key}
        {...(open ? { open } : {})} {...(selected ? { selected } : {})} />}
    </div>
  );
}

export function AnswerView({ answer, question, stale, open, selected }: {
  answer: Answer; question: Question; stale?: boolean; open?: (kind: string, key: string) => void; selected?: string;
}) {
  const what = titleOf(question.question).toLowerCase();
  return (
    <div class={stale ? "answer stale" : "answer"}>
      {answer.notes.map((note) => <Message key={note} level="warning">{note}</Message>)}
      {answer.blocks.map((block, at) => (
        <BlockView key={at} block={block} at={at} question={question} what={what} only={answer.blocks.length === 1}
          {...(open ? { open } : {})} {...(selected ? { selected } : {})} />
      ))}
    </div>
  );
}

function BlockView({ block, at, question, what, only, open, selected }: {
  block: Block; at: number; question: Question; what: string; only: boolean; open?: (kind: string, key: string) => void; selected?: string;
}) {
  if (block.kind === "picture") return <Picture svg={block.svg} />;
  if (block.kind === "rows") {
    return <Grid question={question} block={at} columns={block.columns} first={block} what={what}
      {...(open ? { open } : {})} {...(selected ? { selected } : {})} />;
  }
  const text = block.lines.join("\n");
  const more = block.left_out > 0 && <p class="muted">{block.left_out.toLocaleString("en")} more lines; the command line prints all.</p>;
  return <div class={only ? "text-block" : "text-block below"}><pre>{text}</pre>{more}</div>;
}

// A picture of ours; what its parts name can be opened.
export function Picture({ svg }: { svg: string }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const picture = pictureOf(svg);
    box.current?.replaceChildren(...(picture ? [picture] : []));
  }, [svg]);
  const press = (event: MouseEvent) => {
    const target = event.target instanceof Element ? event.target.closest("[data-snapshot]") : null;
    const snapshot = target?.getAttribute("data-snapshot");
    if (snapshot) go({ snapshot });
  };
  return <div class="picture" ref={box} onClick={press} />;
}
