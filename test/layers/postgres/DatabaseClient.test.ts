import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Stream } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { forEachDatabase, owners } from "../../support/postgres/database.ts"

const { pglite, postgres } = owners

const literals = SqlClient.SqlClient.use((sql) =>
  sql`
  select
    true as bool, null::bool as bool_null,
    1::int2 as int2, (-2147483648)::int4 as int4, 9007199254740991::int8 as int8, (-5)::int8 as int8_negative,
    1.5::float8 as float8, 12.50::numeric as numeric,
    'É ü 🦊'::text as text, ''::text as text_empty, 'x'::varchar as varchar,
    'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid as uuid,
    date '2024-02-29' as date, date '1969-12-31' as date_before,
    timestamptz '2024-02-29 12:34:56.789+02' as timestamptz, timestamptz '1969-12-31 23:59:59.999Z' as timestamptz_before,
    (timestamptz '2024-02-29 12:34:56.7894Z')::timestamptz(3) as timestamptz_3,
    '{"a": [1, null, {"b": "É"}], "c": 1.5}'::jsonb as jsonb, 'null'::jsonb as jsonb_null, null::jsonb as no_jsonb,
    '"text"'::json as json,
    array['a', null, 'b,"c"']::text[] as texts, '{}'::text[] as texts_empty,
    array['A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11']::uuid[] as uuids,
    array[1, 9007199254740991]::int8[] as int8s, array[1, 2]::int4[] as int4s,
    array[date '2024-02-29'] as dates, array[timestamptz '2024-02-29 12:34:56.789Z'] as timestamptzs,
    '\\x00ff10'::bytea as bytea,
    count(*) over () as counted, now() is not null as now`
)

const parameters = SqlClient.SqlClient.use((sql) =>
  Effect.gen(function*() {
    yield* sql`create table sample (
      id int8 primary key, small int4, flag bool, at timestamptz(3), day date, data jsonb, labels text[], ids uuid[],
      instants int8[], name text, digest bytea)`
    yield* sql`insert into sample ${
      sql.insert({
        id: 5_000_000_000,
        small: 7,
        flag: false,
        at: new Date("2024-02-29T12:34:56.789Z"),
        day: new Date("2024-02-29T00:00:00Z"),
        data: JSON.stringify({ a: [1, "É"], "b": null }),
        labels: ["a", "b"],
        instants: [1, 2],
        name: "O'Brien",
        digest: Buffer.from([0, 255])
      })
    }`
    yield* sql`insert into sample (id, day, data, labels) values
      (${1}, ${"2024-02-29"}, ${JSON.stringify("text")}::jsonb, ${[]})`
    yield* sql`update sample set ids = ${["A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"]}::uuid[] where id = 1`
    const rows = yield* sql`select * from sample order by id`
    const values = yield* sql`select id, at, ${"x"} as text, ${3} as number, ${2 ** 40} as big from sample order by id`
      .values
    const streamed = yield* Stream.runCollect(sql`select id, at from sample order by id`.stream)
    const found = yield* sql`select id from sample where id = any(${[1, 2]}) and name is null and ${true}`
    return { rows, values, streamed, found }
  })
)

describe("the two clients", () => {
  it.effect("give identical rows for every type that the schema uses", () =>
    Effect.gen(function*() {
      const [row] = yield* Effect.provide(literals, pglite)
      expect(row).toEqual((yield* Effect.provide(literals, postgres))[0])
      expect(row).toMatchObject({
        bool: true,
        bool_null: null,
        int8: Number.MAX_SAFE_INTEGER,
        int8_negative: -5,
        uuid: "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        date: new Date("2024-02-29T00:00:00.000Z"),
        date_before: new Date("1969-12-31T00:00:00.000Z"),
        timestamptz: new Date("2024-02-29T10:34:56.789Z"),
        timestamptz_before: new Date("1969-12-31T23:59:59.999Z"),
        timestamptz_3: new Date("2024-02-29T12:34:56.789Z"),
        jsonb: { a: [1, null, { b: "É" }], c: 1.5 },
        texts: ["a", null, "b,\"c\""],
        texts_empty: [],
        uuids: ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
        int8s: [1, Number.MAX_SAFE_INTEGER],
        dates: [new Date("2024-02-29T00:00:00.000Z")],
        counted: 1
      })
    }))

  it.effect("take the same parameters and give the same rows back", () =>
    Effect.gen(function*() {
      const embedded = yield* Effect.provide(parameters, pglite)
      expect(embedded).toEqual(yield* Effect.provide(parameters, postgres))
      expect(embedded.rows[1]).toMatchObject({
        id: 5_000_000_000,
        at: new Date("2024-02-29T12:34:56.789Z"),
        day: new Date("2024-02-29T00:00:00.000Z"),
        data: { a: [1, "É"], b: null },
        labels: ["a", "b"],
        instants: [1, 2]
      })
      expect(embedded.rows[0]).toMatchObject({
        data: "text",
        labels: [],
        ids: ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]
      })
      expect(embedded.values[0]).toEqual([1, null, "x", 3, 2 ** 40])
      expect(embedded.found).toEqual([{ id: 1 }])
    }))

  forEachDatabase((_, database) => {
    const table = Layer.effectDiscard(
      SqlClient.SqlClient.use((sql) =>
        sql`create table item (id int8 primary key, parent int8 references item deferrable initially deferred, name text
          check (name <> ''))`
      )
    )
    layer(Layer.provideMerge(table, database))((it) => {
      const tagOf = <A>(exit: Exit.Exit<A, SqlError.SqlError>) =>
        Exit.isFailure(exit)
          ? exit.cause.reasons.map((reason) => reason._tag === "Fail" ? reason.error.reason._tag : reason._tag)
          : exit

      it.effect("classify failures by SQLSTATE", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          yield* sql`insert into item (id) values (1)`
          const unique = yield* Effect.flip(sql`insert into item (id) values (1)`)
          expect(unique.reason).toMatchObject({ _tag: "UniqueViolation", constraint: "item_pkey" })
          const tags = yield* Effect.forEach([
            sql`insert into item (id, name) values (2, '')`,
            sql`insert into item (id, parent) values (3, 99)`,
            sql`select nothing`,
            sql`select * from pg_authid`,
            sql`select 9007199254740992::int8 as beyond`
          ], (statement) => Effect.map(Effect.exit(statement), tagOf))
          expect(tags).toEqual([
            ["ConstraintError"],
            ["ConstraintError"],
            ["SqlSyntaxError"],
            ["AuthorizationError"],
            ["UnknownError"]
          ])
          expect(yield* sql`select 1 as alive`).toEqual([{ alive: 1 }])
        }))

      it.effect("fail the COMMIT of an aborted transaction, and write nothing", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const exit = yield* Effect.exit(sql.withTransaction(Effect.gen(function*() {
            yield* sql`insert into item (id) values (10)`
            yield* Effect.ignore(sql`insert into item (id) values (10)`)
          })))
          expect(tagOf(exit)).toEqual(["UnknownError"])
          expect(yield* sql`select id from item where id = 10`).toEqual([])
        }))

      it.effect("fail the COMMIT that breaks a deferred constraint, and write nothing", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const exit = yield* Effect.exit(sql.withTransaction(sql`insert into item (id, parent) values (11, 99)`))
          expect(tagOf(exit)).toEqual(["ConstraintError"])
          expect(yield* sql`select id from item where id = 11`).toEqual([])
        }))

      it.effect("undo the inner transaction alone when it fails inside an outer one", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          yield* sql.withTransaction(Effect.gen(function*() {
            yield* sql`insert into item (id) values (20)`
            yield* Effect.ignore(sql.withTransaction(Effect.andThen(
              sql`insert into item (id) values (21)`,
              Effect.fail("no")
            )))
            yield* sql`insert into item (id) values (22)`
          }))
          expect(yield* sql`select id from item where id between 20 and 29 order by id`).toEqual([{ id: 20 }, {
            id: 22
          }])
        }))

      it.effect("write nothing when the transaction's fiber is interrupted, and go on", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const fiber = yield* Effect.forkChild(sql.withTransaction(
            Effect.andThen(sql`insert into item (id) values (30)`, Effect.never)
          ))
          for (let turn = 0; turn < 50; turn++) yield* Effect.promise(() => new Promise(setImmediate))
          yield* Fiber.interrupt(fiber)
          expect(yield* sql`select id from item where id = 30`).toEqual([])
        }))

      it.effect("keep the statements of other fibers out of an open transaction", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const insert = (id: number) =>
            sql.withTransaction(Effect.gen(function*() {
              yield* sql`insert into item (id) values (${id})`
              yield* Effect.yieldNow
              if (id % 2 === 1) return yield* Effect.fail("odd")
            }))
          const ids = Array.from({ length: 20 }, (_, index) => 40 + index)
          yield* Effect.forEach(ids, (id) => Effect.ignore(insert(id)), { concurrency: "unbounded" })
          expect(yield* sql`select id from item where id between 40 and 59 order by id`).toEqual(
            ids.filter((id) => id % 2 === 0).map((id) => ({ id }))
          )
        }))
    })
  }, owners)
})
