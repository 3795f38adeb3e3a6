/** Settings with which commands find who holds the directory of an embedded database. */
import { Option } from "effect"
import { defaultKeyPrefix } from "../../../src/layers/Core.ts"

export const embeddedDirectory = (data: string) => ({
  data,
  databaseUrl: Option.none(),
  databaseInsecure: false,
  databasePooled: false,
  databaseDirectUrl: Option.none(),
  blobs: Option.none(),
  blobsShared: false,
  blobsLock: Option.none(),
  maxConnections: 1,
  keyPrefix: defaultKeyPrefix
})
