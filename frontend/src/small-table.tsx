// A table of few rows, all of them shown.

export function SmallTable({ label, head, rows, press, mono }: {
  label: string; head: readonly string[]; rows: readonly (readonly string[])[]; press?: (at: number) => void; mono?: boolean;
}) {
  return (
    <div class="small-table-box">
      <table class={mono ? "small-table mono" : "small-table"} aria-label={label}>
        <thead><tr>{head.map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((value, i) => (
                <td key={i}>{press && i === 0 ? <button type="button" class="quiet" onClick={() => press(at)}>{value}</button> : value}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
