/** What a secret must not get into: the log at its most verbose, the spans of the trace, and a search for it there. */
import { Effect, Exit, Layer, Logger, References, Tracer } from "effect"
import { HttpMiddleware } from "effect/http"
import { SqlClient } from "effect/sql"
import * as Tenant from "../../src/layers/postgres/Tenant.ts"
import { RequestLines } from "../../src/transport/TransportSettings.ts"

/** What stands in a text whichever the three places are at which its bytes begin in a group of base64. */
const base64 = (text: string): ReadonlyArray<string> =>
  [0, 1, 2].map((shift) => {
    const bytes = Buffer.from(`${"\0".repeat(shift)}${text}`)
    const start = shift === 0 ? 0 : 4
    return bytes.toString("base64").replaceAll("=", "").slice(start, -4)
  })

/** The forms in which a secret is found: as it is, in part, and encoded. */
const forms = (secret: string): ReadonlyArray<string> => {
  const part = secret.length > 40 ? secret.slice(-34, -6) : secret
  return [
    secret,
    part,
    ...base64(part),
    ...base64(part).map((text) => text.replaceAll("+", "-").replaceAll("/", "_")),
    Buffer.from(part).toString("hex"),
    Buffer.from(part).toString("hex").toUpperCase(),
    encodeURIComponent(part),
    part.replaceAll(" ", "+"),
    JSON.stringify(part).slice(1, -1)
  ]
}

/** The names of the secrets that stand in the text in any form. */
export const found = (text: string, secrets: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  Object.entries(secrets).filter(([, secret]) => forms(secret).some((form) => text.includes(form))).map(([name]) =>
    name
  )

const shown = (value: unknown): string =>
  JSON.stringify(
    value,
    (_, member: unknown) =>
      typeof member === "bigint"
        ? String(member)
        : member instanceof Error
        ? `${member.stack} ${String(member.cause)}`
        : member
  ) ?? ""

/** Where everything is kept that the service tells of itself. */
export const makeSinks = () => {
  const lines: Array<string> = []
  const spans: Array<Tracer.NativeSpan> = []
  const logger = Logger.make((options) => {
    lines.push(Logger.formatJson.log(options), Logger.formatLogFmt.log(options), Logger.formatSimple.log(options))
  })
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  const layer = Layer.mergeAll(
    Logger.layer([logger]),
    Layer.succeed(References.MinimumLogLevel, "Trace"),
    Layer.succeed(RequestLines, true),
    Layer.succeed(Tracer.Tracer, tracer),
    // As `serve` has it: the framework's own span would hold whole addresses, and whatever stands in them.
    Layer.succeed(HttpMiddleware.TracerDisabledWhen, () => true)
  )
  return {
    layer,
    log: () => lines.join("\n"),
    /** Names, attributes, events and how each span ended. */
    trace: () =>
      spans.map(({ attributes, events, name, status }) =>
        shown([
          name,
          [...attributes],
          events,
          status._tag === "Ended" && Exit.isFailure(status.exit)
            ? [String(status.exit.cause), shown(status.exit.cause)]
            : []
        ])
      ).join("\n")
  }
}

/** Every column of every row, by table: what the organizations see of their own, and what is nobody's. */
export const dump = Effect.fnUntraced(function*(...organizationIds: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const read = Effect.fnUntraced(function*(tenant: boolean) {
    const tables = yield* sql<{ name: string; tenant: boolean }>`
      select c.relname::text as name, c.relname = 'organization' or exists (
        select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'organization_id') as tenant
      from pg_class c where c.relnamespace = to_regnamespace('public') and c.relkind in ('r', 'p') and not c.relispartition
      order by c.relname`
    return yield* Effect.forEach(
      tables.filter((table) => table.tenant === tenant),
      ({ name }) =>
        Effect.map(
          sql<{ text: string }>`select to_jsonb(rows)::text as text from ${sql(name)} rows`,
          (rows) => [name, rows.map(({ text }) => text).join("\n")] as const
        )
    )
  })
  const parts = [
    yield* Tenant.directory(sql)(read(false)),
    ...yield* Effect.forEach(organizationIds, (id) => Tenant.transaction(sql, id)(read(true)))
  ].flat()
  return new Map(parts.map(([name]) => [name, parts.flatMap(([each, rows]) => each === name ? [rows] : []).join("\n")]))
})
