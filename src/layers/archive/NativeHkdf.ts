/** HKDF-SHA-256 for HPKE by Node's synchronous calls: through WebCrypto, a key schedule takes twice the time of the KEM. */
import { HkdfSha256 } from "@hpke/core"
import * as crypto from "node:crypto"
import { secretKey } from "../crypto/Gcm.ts"

type Source = ArrayBufferLike | ArrayBufferView

const view = (bytes: Source): Buffer =>
  ArrayBuffer.isView(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : Buffer.from(bytes)

export class NativeHkdf extends HkdfSha256 {
  /** An empty salt is one of zeros: HMAC pads its key with zeros (RFC 5869, section 2.2). */
  override async extract(salt: Source, ikm: Source): Promise<ArrayBuffer> {
    return new Uint8Array(crypto.createHmac("sha256", secretKey(view(salt))).update(view(ikm)).digest()).buffer
  }

  override async extractAndExpand(salt: Source, ikm: Source, info: Source, size: number): Promise<ArrayBuffer> {
    return crypto.hkdfSync("sha256", secretKey(view(ikm)), view(salt), view(info), size)
  }
}
