// Adding a catalog, and giving credentials for one: the server tests the connection first. Secrets are typed where nobody
// sees them, and the page forgets them as soon as they are sent.

import type { TargetedEvent } from "preact";
import { useState } from "preact/hooks";
import { hello, ownCredentials, server } from "./store";
import { IconButton, Message, Working } from "./parts";

interface Secret {
  name: string;
  value: string;
  place: "here" | "keyring" | "env";
}

const PLACES = {
  here: "for this page only", keyring: "kept in the system's keyring", env: "read from an environment variable of the server",
};

// What a person types; it is sent as it stands, so that a secret's spaces count.
function Input({ label, value, change, hint = "", hidden = false, options }: {
  label: string; value: string; change: (value: string) => void; hint?: string; hidden?: boolean; options?: readonly string[];
}) {
  return (
    <label class="field"><span>{label}</span>
      {options
        ? <select value={value} onChange={(event) => change(event.currentTarget.value)}>{options.map((one) => <option key={one}>{one}</option>)}</select>
        : <input {...(hidden ? { type: "password" } as const : { type: "text" } as const)} value={value} placeholder={hint} autocomplete="off"
            spellcheck={false} onInput={(event: TargetedEvent<HTMLInputElement>) => change(event.currentTarget.value)} />}
    </label>
  );
}

function Secrets({ secrets, change, places }: { secrets: Secret[]; change: (secrets: Secret[]) => void; places: Secret["place"][] }) {
  const names = hello.value?.credentials ?? [];
  const put = (at: number, part: Partial<Secret>) => change(secrets.map((one, index) => (index === at ? { ...one, ...part } : one)));
  return (
    <>
      {secrets.map((one, at) => (
        <fieldset key={at} class="secret">
          <legend>Credential {at + 1}</legend>
          <Input label="Property" value={one.name} options={names} change={(name) => put(at, { name })} />
          {places.length > 1 && (
            <label class="field"><span>Where it is</span>
              <select value={one.place} onChange={(event) => put(at, { place: event.currentTarget.value as Secret["place"], value: "" })}>
                {places.map((place) => <option key={place} value={place}>{PLACES[place]}</option>)}
              </select>
            </label>
          )}
          <Input label={one.place === "env" ? "Variable" : "Value"} value={one.value} hidden={one.place !== "env"} change={(value) => put(at, { value })} />
          <IconButton icon="close" name={`Remove credential ${at + 1}`} press={() => change(secrets.filter((_, index) => index !== at))} />
        </fieldset>
      ))}
      <button type="button" onClick={() => change([...secrets, { name: names[0] ?? "", value: "", place: places[0] ?? "here" }])}>Add a credential</button>
    </>
  );
}

// Send something; meanwhile and afterwards `told` says how that went.
function useSending(): { isBusy: boolean; problem: string; send: (work: () => Promise<void>) => void } {
  const [isBusy, setBusy] = useState(false), [problem, setProblem] = useState("");
  const send = (work: () => Promise<void>) => {
    setBusy(true);
    setProblem("");
    work().catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error))).finally(() => setBusy(false));
  };
  return { isBusy, problem, send };
}

const pairsOf = (secrets: Secret[], wanted: Secret["place"][], value: (one: Secret) => string = (one) => one.value) =>
  Object.fromEntries(secrets.filter(({ place }) => wanted.includes(place)).map((one) => [one.name, value(one)]));

async function give(catalog: string, credentials: Record<string, string>): Promise<void> {
  await server().request("credentials", { catalog, credentials }, "", undefined, true);
  const names = new Set(ownCredentials.value);
  if (Object.keys(credentials).length) names.add(catalog);
  else names.delete(catalog);
  ownCredentials.value = names;
}

// A form for the credentials of a catalog that is configured on the server.
export function CredentialsForm({ catalog, done }: { catalog: string; done: () => void }) {
  const [secrets, setSecrets] = useState<Secret[]>([{ name: hello.value?.credentials[0] ?? "", value: "", place: "here" }]);
  const { isBusy, problem, send } = useSending(), hasOwn = ownCredentials.value.has(catalog);
  return (
    <form class="catalog-form" aria-label={`Credentials for ${catalog}`} onSubmit={(event) => {
      event.preventDefault();
      send(async () => {
        await give(catalog, pairsOf(secrets, ["here"]));
        done();
      });
    }}>
      <p class="muted">The server keeps them in memory, for this page alone, until it is closed. Nobody else's questions use them.</p>
      <Secrets secrets={secrets} change={setSecrets} places={["here"]} />
      {problem && <Message level="error">{problem}</Message>}
      {isBusy && <Working text="Asking the catalog…" />}
      <div class="row">
        <button type="submit" class="primary" disabled={isBusy || !secrets.length}>Use them</button>
        {hasOwn && <button type="button" disabled={isBusy} onClick={() => send(async () => {
          await give(catalog, {});
          done();
        })}>Forget them</button>}
        <button type="button" onClick={done}>Close</button>
      </div>
    </form>
  );
}

// A form for a catalog that is not configured yet.
export function CatalogForm({ done }: { done: () => void }) {
  const types = hello.value?.catalog_types ?? [], settings = hello.value?.catalog_settings ?? [];
  const [name, setName] = useState(""), [type, setType] = useState(types[0] ?? ""), [uri, setUri] = useState(""), [warehouse, setWarehouse] = useState("");
  const [more, setMore] = useState(""), [secrets, setSecrets] = useState<Secret[]>([]);
  const { isBusy, problem, send } = useSending();
  const add = async () => {
    const lines = more.split("\n").map((line) => line.trim()).filter(Boolean).map((line) => line.split(/=(.*)/s) as [string, string]);
    const given = { type, uri, warehouse, ...Object.fromEntries(lines.map(([key, value]) => [key, value ?? ""])) };
    const properties = Object.fromEntries(Object.entries(given).filter(([, value]) => value));
    const named = pairsOf(secrets, ["keyring", "env"], ({ place, value }) => (place === "env" ? `env:${value}` : "keyring"));
    const typed = pairsOf(secrets, ["keyring"]), own = pairsOf(secrets, ["here"]);
    const told = await server().request<{ catalogs: string[] }>("add_catalog", { name, properties, secrets: named, typed, own }, "", undefined, true);
    if (hello.value) hello.value = { ...hello.value, catalogs: told.catalogs };
    if (Object.keys(own).length) ownCredentials.value = new Set([...ownCredentials.value, name.toLowerCase()]);
    done();
  };
  return (
    <form class="catalog-form" aria-label="Add a catalog" onSubmit={(event) => {
      event.preventDefault();
      send(add);
    }}>
      <Input label="Name" value={name} change={setName} hint="prod" />
      <Input label="Type" value={type} options={types} change={setType} />
      <Input label="Address (uri)" value={uri} change={setUri} hint={{ rest: "https://…", hive: "thrift://host:9083", sql: "postgresql://host/db" }[type] ?? ""} />
      <Input label="Warehouse" value={warehouse} change={setWarehouse} hint="a name, or s3://bucket/folder" />
      <details>
        <summary>Other properties</summary>
        <label class="field"><span>KEY=VALUE, one a line</span>
          <textarea rows={3} spellcheck={false} value={more} onInput={(event) => setMore(event.currentTarget.value)} placeholder="s3.endpoint=https://…" /></label>
        <p class="muted">One of {settings.join(", ")}.</p>
      </details>
      <Secrets secrets={secrets} change={setSecrets} places={["here", "env", "keyring"]} />
      {problem && <Message level="error">{problem}</Message>}
      {isBusy && <Working text="Asking the catalog…" />}
      <div class="row">
        <button type="submit" class="primary" disabled={isBusy || !name}>Test and add</button>
        <button type="button" onClick={done}>Close</button>
      </div>
    </form>
  );
}
