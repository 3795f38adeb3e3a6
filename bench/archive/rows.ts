/**
 * The peer: a row for each message, sealed by itself under a key of the account, with a keyed fingerprint of each word
 * in an index. It finds whole words, and its index shows which messages have words in common.
 */
import * as crypto from "node:crypto"
import type { Client } from "pg"
import { chatNumbers, chatOf } from "./corpus.ts"

const batch = 1000

export interface PeerKeys {
  readonly body: crypto.KeyObject
  readonly words: crypto.KeyObject
}

/** Sealed by the organization's key in a real deployment; an opening of it is not measured. */
export const peerKeys = (): PeerKeys => ({
  body: crypto.createSecretKey(crypto.randomBytes(32)),
  words: crypto.createSecretKey(crypto.randomBytes(32))
})

const fingerprint = ({ words }: PeerKeys, word: string): number =>
  crypto.createHmac("sha256", words).update(word).digest().readInt32BE(0)

const seal = ({ body }: PeerKeys, text: string): Buffer => {
  const nonce = crypto.randomBytes(12)
  const cipher = crypto.createCipheriv("aes-256-gcm", body, nonce)
  return Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()])
}

const open = ({ body }: PeerKeys, sealed: Buffer): unknown => {
  const decipher = crypto.createDecipheriv("aes-256-gcm", body, sealed.subarray(0, 12))
  decipher.setAuthTag(sealed.subarray(-16))
  return JSON.parse(`${decipher.update(sealed.subarray(12, -16), undefined, "utf8")}${decipher.final("utf8")}`)
}

const schema = `
  create table peer_message (
    account_id uuid not null, chat_id bigint not null, id bigint not null, sent_at timestamptz not null,
    words integer[] not null, sealed bytea not null, primary key (account_id, chat_id, id)
  );
  create index on peer_message using gin (words) with (fastupdate = off);
  create index on peer_message (sent_at desc)`

/** Writes the corpus by statements of a thousand rows. */
export const writeRows = async (
  client: Client,
  keys: PeerKeys,
  accountIds: ReadonlyArray<string>,
  done: () => void
) => {
  await client.query(schema)
  for (const [place, accountId] of accountIds.entries()) {
    for (const number of chatNumbers) {
      const { chatId, messages } = chatOf(place, number)
      for (let from = 0; from < messages.length; from += batch) {
        const rows = messages.slice(from, from + batch)
        await client.query(
          `insert into peer_message (account_id, chat_id, id, sent_at, words, sealed)
          select $1, $2, id, to_timestamp(at), words::integer[], sealed
          from unnest($3::bigint[], $4::bigint[], $5::text[], $6::bytea[]) as row (id, at, words, sealed)`,
          [
            accountId,
            chatId,
            rows.map(({ id }) => id),
            rows.map(({ at }) => at),
            rows.map(({ text }) =>
              `{${[...new Set((text ?? "").split(" "))].map((word) => fingerprint(keys, word)).join(",")}}`
            ),
            rows.map(({ details, from, kind, text }) => seal(keys, JSON.stringify({ from, kind, text, details })))
          ]
        )
      }
    }
    done()
  }
  await client.query("vacuum analyze peer_message")
}

/** The newest messages of a chat below an id, opened. */
export const listRows = async (
  client: Client,
  keys: PeerKeys,
  accountId: string,
  chatId: bigint,
  below: number
): Promise<number> => {
  const { rows } = await client.query<{ sealed: Buffer }>({
    name: "list",
    text: `select id, sent_at, sealed from peer_message where account_id = $1 and chat_id = $2 and id < $3
      order by id desc limit 50`,
    values: [accountId, chatId, below]
  })
  return rows.map(({ sealed }) => open(keys, sealed)).length
}

/** The newest messages with all the words, opened. */
export const searchRows = async (client: Client, keys: PeerKeys, words: ReadonlyArray<string>): Promise<number> => {
  const { rows } = await client.query<{ sealed: Buffer }>(
    `select id, sent_at, sealed from peer_message where words @> $1::integer[] order by sent_at desc limit 20`,
    [`{${words.map((word) => fingerprint(keys, word)).join(",")}}`]
  )
  return rows.map(({ sealed }) => open(keys, sealed)).length
}
