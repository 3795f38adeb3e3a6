import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SearchBlocks } from "../../../../src/ports/archive/SearchBlocks.ts"
import { Db } from "../../../../src/ports/Db.ts"
import * as Archives from "../../../support/archive/archives.ts"
import { postgres } from "../../../support/postgres/database.ts"
import { blocksRead, plan } from "../../../support/postgres/plans.ts"
import { recording } from "../../../support/postgres/statements.ts"
import * as World from "../../../support/world.ts"

/** Pages like the account's one, each loose. */
const copyPage = (organizationId: string, count: number) =>
  World.query<{ page_id: number }>(organizationId, (sql) =>
    sql`with copied as (
        insert into archive_page (organization_id, account_id, chat_id, last_id, first_id, day, kind, first_at, last_at,
          messages, bytes, ids, digest, sealed)
        select organization_id, account_id, chat_id, last_id + n, first_id + n, day, kind, first_at, last_at, messages,
          bytes, ids, digest, sealed
        from archive_page cross join generate_series(1, ${count}::integer) as n
        where organization_id = ${organizationId} and kind = 'messages'
        returning *
      )
      insert into archive_loose
      select organization_id, account_id, page_id, chat_id, day, kind, first_at, last_at, messages from copied
      returning page_id`)

describe("pages that are read to make a vocabulary", () => {
  layer(World.core(postgres))((it) => {
    it.effect("are found each by itself, in tables of many that were never analyzed", () =>
      Effect.gen(function*() {
        const archive = yield* Archives.makeArchive()
        const { account } = archive
        const writer = yield* Archives.write(archive)
        yield* Archives.commit(archive, writer.see(Archives.chat))
        yield* Archives.commit(
          archive,
          writer.append(Archives.chatId, [Archives.seen(1, 200_000, "harbour")], "sweep")
        )
        const pages = (yield* copyPage(account.organizationId, 5000)).map(({ page_id }) => BigInt(page_id))
        const asked = pages.filter((_, at) => at % 250 === 0)
        const blocks = yield* SearchBlocks
        const { answer, said } = yield* recording(
          (yield* Db).read(account.organizationId, blocks.loose(account, asked))
        )
        expect(answer).toHaveLength(asked.length)
        const [statement] = said.filter(({ sql }) => sql.includes("archive_loose"))
        for (const made of ["for these values", "for all values"] as const) {
          expect(blocksRead(yield* plan(account.organizationId, statement!, made))).toBeLessThan(15 * asked.length)
        }
      }))
  })
})
