/** The library's data of one session: its key, and the data centre that has its account. */
import { Redacted } from "effect"
import type { KeptSession } from "../../../ports/messenger/MessengerKeys.ts"
import type { WireStorage } from "./Protocol.ts"

export interface StorageWriter {
  /** Saves a value, which replaces the version; fails if another process has replaced it. */
  save(name: string, value: Uint8Array, version: number): Promise<void>
  /** The library wants the key deleted, because the platform does not know it. */
  doubted(): void
}

const keyName = (centre: number): string => `key:${centre}`

/** True if the value of this name is a key. */
export const isKey = (name: string): boolean => name.startsWith("key:")

/** Salts last half an hour, and are then requested again. */
const isPassing = (name: string): boolean => name.startsWith("salts")

const loaded = (kept: KeptSession | null) =>
  new Map([...kept?.values ?? []].map(([name, one]) => [name, {
    value: Redacted.value(one.value),
    version: one.version
  }]))

/**
 * The library's storage over the values that were loaded. A key that it asks to delete is kept: the platform says
 * now and then of a key for a while that it does not know it. Keys of a session alone are kept, none for a while only.
 */
export const make = (kept: KeptSession | null, written: StorageWriter): WireStorage => {
  const values = loaded(kept)
  let isDoubted = false

  const get = (name: string): Uint8Array | null => values.get(name)?.value ?? null

  const set = async (name: string, value: Uint8Array): Promise<void> => {
    if (isDoubted) throw new Error("The session's key is doubted: nothing replaces it")
    const version = values.get(name)?.version ?? 0
    if (!isPassing(name)) await written.save(name, value, version)
    values.set(name, { value, version: version + 1 })
  }

  const doubted = (): void => {
    isDoubted = true
    written.doubted()
  }

  return {
    driver: {},
    kv: {
      get,
      set,
      delete: (name) => {
        if (isPassing(name)) values.delete(name)
      },
      deleteAll: () => {}
    },
    authKeys: {
      get: (centre) => get(keyName(centre)),
      set: (centre, key) => key === null ? doubted() : set(keyName(centre), key),
      getTemp: () => null,
      setTemp: () => {},
      deleteByDc: doubted,
      deleteAll: doubted
    }
  }
}

export interface ReadingWriter {
  /** Saves a value, which replaces the version; where another process has replaced it, that one stays. */
  save(name: string, value: Uint8Array, version: number): Promise<void>
  /** The account's data centre does not know the session's key. */
  lost(): void
}

const unkept = (values: Map<string, { readonly value: Uint8Array; readonly version: number }>) => ({
  get: (name: string) => values.get(name)?.value ?? null,
  set: (name: string, value: Uint8Array) => void values.set(name, { value, version: 0 }),
  delete: (name: string) => void values.delete(name),
  deleteAll: () => {}
})

/** The library's storage of a connection that only reads: the session's key is not its to judge or to replace. */
export const makeForReading = (kept: KeptSession, { lost }: Pick<ReadingWriter, "lost">): WireStorage => {
  const values = loaded(kept)
  const only = (centre: number, key: Uint8Array | null) => {
    if (key === null) lost()
    else values.set(keyName(centre), { value: key, version: 0 })
  }
  return {
    driver: {},
    kv: unkept(values),
    authKeys: {
      get: (centre) => values.get(keyName(centre))?.value ?? null,
      set: only,
      getTemp: () => null,
      setTemp: () => {},
      deleteByDc: lost,
      deleteAll: lost
    }
  }
}

/** The library's storage at a data centre for files, under a key of the account's own there, which may be replaced. */
export const makeForFiles = (kept: KeptSession, { save }: Pick<ReadingWriter, "save">): WireStorage => {
  const values = loaded(kept)
  const nameOf = (centre: number) => `reading:${centre}`
  const setKey = async (centre: number, key: Uint8Array | null): Promise<void> => {
    const name = nameOf(centre)
    const value = key ?? new Uint8Array()
    const version = values.get(name)?.version ?? 0
    values.set(name, { value, version: version + 1 })
    await save(name, value, version)
  }
  return {
    driver: {},
    kv: unkept(new Map()),
    authKeys: {
      get: (centre) => {
        const key = values.get(nameOf(centre))?.value
        return key === undefined || key.length === 0 ? null : key
      },
      set: setKey,
      getTemp: () => null,
      setTemp: () => {},
      deleteByDc: (centre) => setKey(centre, null),
      deleteAll: () => {}
    }
  }
}
