// The answer to a question: its messages, pictures, text and rows.

import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Answer, Block, Fact, Finding, Form, LinkTo, Progress, Question } from "./protocol";
import { RequestError } from "./protocol";
import { fileOf, go, incomplete, isSaved, refusal, refuse, server } from "./store";
import { Message, Working } from "./parts";
import { Grid, type RowsChoice } from "./grid";
import { JsonView } from "./json-view";
import { previewed } from "./preview";
import { pictureOf } from "./svg";

// Says what answers lack, since files of the table could not be read.
export function IncompleteNote() {
  return incomplete.value ? <Message level="incomplete">{incomplete.value}</Message> : null;
}

// Ask a question when it changes, and show how far the answer is, and then the answer.
export function Asked({ form, done, ...shown }: { form: Form; done?: () => void } & Shown) {
  const { question } = shown;
  const [answer, setAnswer] = useState<{ of: string; answer: Answer } | null>(null);
  const [progress, setProgress] = useState<Progress | null>(null);
  const [problem, setProblem] = useState<{ text: string; kind: string } | null>(null);
  const key = JSON.stringify(question), channel = `ask ${useId()}`;
  useEffect(() => {
    let isHere = true;
    setProblem(null);
    setProgress(null);
    const told = (now: Progress) => isHere && setProgress(now);
    server().request<Answer>("ask", question, channel, told, form.writes).then(
      (one) => {
        done?.();
        refusal.value = null;
        if (!isHere) return;
        incomplete.value = one.lacks ?? "";
        setAnswer({ of: key, answer: one });
      },
      (error: unknown) => {
        refuse(error, Object.values(question.arguments ?? {}));
        if (isHere && error instanceof RequestError) setProblem({ text: error.message, kind: error.kind });
      },
    ).finally(() => isHere && setProgress(null));
    return () => {
      isHere = false;
      server().cancelChannel(channel);
    };
  }, [key]);
  const isWhole = form.writes && form.subject === "table"; // what changes a table is carried out completely
  const cancel = isWhole ? {} : { cancel: () => server().cancelChannel(channel) };
  if (problem) return <Message level={problem.kind === "cancelled" ? "ok" : "error"}>{problem.text}</Message>;
  return (
    <div class="asked" aria-busy={answer?.of !== key}>
      {progress && <Working text={progress.text} done={progress.done} total={progress.total} {...cancel} />}
      {answer && <AnswerView answer={answer.answer} stale={answer.of !== key} writes={form.writes} {...shown} />}
    </div>
  );
}

interface Shown {
  question: Question;
  open?: (kind: string, key: string) => void;
  selected?: string;
  // The filter and the order of rows that the page keeps.
  rows?: RowsChoice;
  // Whether the graph is shown beside the answer: then a picture of it is left out.
  besideGraph?: boolean;
}

export function AnswerView({ answer, stale, writes, ...shown }: { answer: Answer; stale?: boolean; writes?: boolean } & Shown) {
  return (
    <div class={stale ? "answer stale" : "answer"}>
      {answer.notes.map((note) => <Message key={note} level="warning">{note}</Message>)}
      <Blocks blocks={answer.blocks} {...shown} />
      {isSaved(shown.question) && !stale && !writes && <Saves answer={answer} question={shown.question} />}
    </div>
  );
}

// Links that save the answer as a file.
function Saves({ answer, question }: { answer: Answer; question: Question }) {
  const hasPicture = answer.blocks.some(({ kind }) => kind === "picture");
  const formats = ["json", "txt", ...(hasPicture ? ["svg", "html"] : [])];
  return (
    <p class="saves muted">
      Save as {formats.map((format) => <a key={format} class="save" href={fileOf(question, format)} download="">{format.toUpperCase()}</a>)}
    </p>
  );
}

function Blocks({ blocks, ...shown }: { blocks: Block[] } & Shown) {
  return <>{blocks.map((block, at) => <BlockView key={at} block={block} {...shown} />)}</>;
}

function BlockView({ block, ...shown }: { block: Block } & Shown) {
  switch (block.kind) {
    case "picture":
      return block.is_graph && shown.besideGraph ? null : <Picture svg={block.svg} {...(shown.open ? { open: shown.open } : {})} />;
    case "rows":
      return <Rows block={block} {...shown} />;
    case "message":
      return <Message level={block.level}>{block.text}</Message>;
    case "statement":
      return <div class="statement-block"><code>{block.sql}</code><CopyButton text={block.sql} /></div>;
    case "facts":
      return <Facts facts={block.facts} />;
    case "findings":
      return <ul class="plain findings">{block.findings.map((one, at) => <FindingView key={at} finding={one} {...shown} />)}</ul>;
    case "links":
      return <p class="links">{block.links.map((one) => <LinkView key={one.label} link={one} {...shown} />)}</p>;
    case "group":
      return (
        <details class="group" open={block.is_open}>
          <summary><b>{block.title}</b> <span class="muted">{block.note}</span></summary>
          <Blocks blocks={block.blocks} {...shown} />
        </details>
      );
    case "json":
      return <JsonView key={`${block.title} ${block.older_title}`} block={block} />;
    case "text":
      return <TextView block={block} />;
  }
}

function Rows({ block, question, open, selected, rows }: { block: Extract<Block, { kind: "rows" }> } & Shown) {
  return (
    <>
      {block.title && <h3>{block.title}</h3>}
      <Grid key={`${question.question} ${block.what}`} question={question} block={block.block} columns={block.columns} first={block} what={block.what}
        {...(open ? { open } : {})} {...(selected ? { selected } : {})} {...(rows ? { choice: rows } : {})} />
    </>
  );
}

function TextView({ block }: { block: Extract<Block, { kind: "text" }> }) {
  const isTable = block.lines.some((line) => /\S {2,}\S/.test(line)); // its columns stand below each other
  const text = <pre tabIndex={0} class={isTable ? "" : "sentences"}>{block.lines.join("\n")}</pre>;
  const more = block.left_out > 0 && <p class="muted">{block.left_out.toLocaleString("en")} more lines; the command line prints all.</p>;
  if (block.folded) return <details class="text-block"><summary>As text</summary>{text}{more}</details>;
  return <div class="text-block">{text}{more}</div>;
}

function Facts({ facts }: { facts: Fact[] }) {
  const hasLimits = facts.some(({ limit }) => limit);
  return (
    <table class="facts-table">
      {hasLimits && <thead><tr><th scope="col">Measure</th><th scope="col">Value</th><th scope="col">Threshold</th><th scope="col" /></tr></thead>}
      <tbody>
        {facts.map(({ name, value, limit, level }) => (
          <tr key={name} class={level ? `level-${level.replace(" ", "-")}` : ""}>
            <th scope="row">{name}</th><td>{value}</td>{hasLimits && <><td class="muted">{limit}</td><td>{level && level !== "ok" ? level : ""}</td></>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function FindingView({ finding, ...shown }: { finding: Finding } & Shown) {
  const { level, title, name, lines, remedy, links } = finding;
  return (
    <li class={`finding finding-${level}`}>
      <h4><span class="badge">{level}</span> {title} <span class="muted">{name}</span></h4>
      {lines.map((line, at) => <p key={at}>{line}</p>)}
      {remedy && <div class="remedy"><b>Remedy</b><p>{remedy}</p><CopyButton text={remedy} /></div>}
      {links.length > 0 && <p class="links">{links.map((one) => <LinkView key={one.label} link={one} {...shown} />)}</p>}
    </li>
  );
}

function LinkView({ link, open }: { link: LinkTo } & Shown) {
  const press = () => {
    if (link.kind === "question" && link.key === "maintain preview") go({ mode: "health", tab: "maintenance", arguments: JSON.stringify(link.arguments) });
    else if (link.kind === "question") go({ mode: "ask", question: link.key, arguments: JSON.stringify(link.arguments) });
    else open?.(link.kind, link.key);
  };
  return <button type="button" class="quiet" {...(link.kind === "question" ? { title: link.key } : previewed(link.kind, link.key))} onClick={press}>{link.label}</button>;
}

function CopyButton({ text }: { text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => void navigator.clipboard.writeText(text).then(() => setCopied(true));
  return <button type="button" onClick={copy}>{isCopied ? "Copied" : "Copy"}</button>;
}

// A picture of ours; what its parts stand for can be opened.
export function Picture({ svg, open }: { svg: string; open?: (kind: string, key: string) => void }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const picture = pictureOf(svg);
    box.current?.replaceChildren(...(picture ? [picture] : []));
  }, [svg]);
  const press = (event: MouseEvent) => {
    const { kind, key } = (event.target instanceof Element ? event.target.closest<SVGElement>("[data-kind]") : null)?.dataset ?? {};
    if (kind && key) open?.(kind, key);
  };
  return <div class={open ? "picture opens" : "picture"} ref={box} onClick={press} />;
}
