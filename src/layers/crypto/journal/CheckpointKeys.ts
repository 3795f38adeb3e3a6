/** The Ed25519 keys of the journal's checkpoints: the first one signs, and what any of them signed is believed. */
import canonicalize from "canonicalize"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import * as crypto from "node:crypto"
import { type Checkpoint, type PublicJwk, PublicKeys, signed } from "../../../domain/journal/Checkpoint.ts"
import { keyFile } from "../Peppers.ts"

/** The configured keys cannot be used; the message never repeats them. */
export class CheckpointKeyInvalid
  extends Schema.TaggedError<CheckpointKeyInvalid>()("CheckpointKeyInvalid", { message: Schema.String })
{}

const seedLength = 32

/** The bytes that precede the seed of an Ed25519 key in PKCS#8. */
const pkcs8 = Buffer.from("302e020100300506032b657004220420", "hex")

const toJwk = (key: crypto.KeyObject): PublicJwk => {
  const x = crypto.createPublicKey({ key: key.export({ type: "spki", format: "der" }), type: "spki", format: "der" })
    .export({ format: "jwk" }).x ?? ""
  const kid = crypto.createHash("sha256").update(canonicalize({ crv: "Ed25519", kty: "OKP", x }) ?? "")
    .digest("base64url")
  return { kty: "OKP", crv: "Ed25519", x, kid, use: "sig", alg: "EdDSA" }
}

const blocks = /-----BEGIN (PRIVATE|PUBLIC) KEY-----[\w+/=\s]+-----END \1 KEY-----/g

const invalid = (message: string) => new CheckpointKeyInvalid({ message })

const wrong = "A checkpoint key is an Ed25519 key: PKCS#8 in PEM, or base64 of its 32 bytes."

const readKey = (text: string): Effect.Effect<crypto.KeyObject, CheckpointKeyInvalid> =>
  Effect.try({
    try: () => {
      const seed = Buffer.from(text.trim(), "base64")
      const key = text.startsWith("-----BEGIN PUBLIC")
        ? crypto.createPublicKey(text)
        : text.startsWith("-----BEGIN")
        ? crypto.createPrivateKey(text)
        : seed.length === seedLength
        ? crypto.createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: "der", type: "pkcs8" })
        : undefined
      if (key?.asymmetricKeyType !== "ed25519") throw new Error(wrong)
      return key
    },
    catch: () => invalid(wrong)
  })

const publicOf = (key: crypto.KeyObject) => key.type === "public" ? key : crypto.createPublicKey(key)

const texts = (text: string): ReadonlyArray<string> =>
  text.includes("-----BEGIN") ? [...text.matchAll(blocks)].map(([block]) => block) : text.split(",")

/** The text that a checkpoint's signature is of. */
const signedText = (checkpoint: Checkpoint): string => canonicalize(signed(checkpoint)) ?? ""

/** The digest by which the next checkpoint names this one. */
export const digest = (checkpoint: Checkpoint): string =>
  crypto.createHash("sha256").update(`${signedText(checkpoint)}\n${checkpoint.signature}`).digest("hex")

/** Judges the checkpoint's signature: made by one of the keys or not, or its key is none of them. */
export const judge = (
  keys: ReadonlyArray<PublicJwk>,
  checkpoint: Checkpoint
): "good" | "signature" | "key" => {
  const jwk = keys.find(({ kid }) => kid === checkpoint.key_id)
  if (jwk === undefined) return "key"
  const key = crypto.createPublicKey({ key: { kty: jwk.kty, crv: jwk.crv, x: jwk.x }, format: "jwk" })
  // A kid that is not the key's own would let one key pass for another.
  if (toJwk(key).kid !== jwk.kid) return "key"
  const signature = Buffer.from(checkpoint.signature, "base64url")
  return crypto.verify(null, Buffer.from(signedText(checkpoint)), key, signature) ? "good" : "signature"
}

/** The keys of this service. */
export class CheckpointKeys extends Context.Service<CheckpointKeys, {
  /** The key that signs. */
  readonly keyId: string
  /** Every key that is believed, the one that signs first. */
  readonly publicKeys: ReadonlyArray<PublicJwk>
  readonly sign: (checkpoint: Omit<Checkpoint, "key_id" | "signature">) => Checkpoint
}>()("org-security-console/layers/crypto/journal/CheckpointKeys") {
  static readonly make = Effect.fnUntraced(function*(text: Redacted.Redacted) {
    const [first, ...others] = yield* Effect.forEach(texts(Redacted.value(text)), readKey)
    if (first?.type !== "private") {
      return yield* invalid("The first of the checkpoint keys signs: it is a private key, in PEM or as base64.")
    }
    const publicKeys = [first, ...others].map((key) => toJwk(publicOf(key)))
    const key_id = publicKeys[0]?.kid ?? ""
    return CheckpointKeys.of({
      keyId: key_id,
      publicKeys,
      sign: (statement) => {
        const unsigned = { ...statement, key_id, signature: "" }
        const signature = crypto.sign(null, Buffer.from(signedText(unsigned)), first).toString("base64url")
        return { ...unsigned, signature }
      }
    })
  })

  /** Reads a list of keys, newest first: PEM one after another, or base64 separated by commas. */
  static readonly layerText = (text: Redacted.Redacted) => Layer.effect(CheckpointKeys, CheckpointKeys.make(text))

  /** Reads the list from the file `checkpoint-key` in the directory, made with mode 0600 where it is not there yet. */
  static readonly layerDirectory = (directory: string) =>
    Layer.effect(CheckpointKeys, Effect.flatMap(keyFile(directory, "checkpoint-key"), CheckpointKeys.make))
}

/** The public keys in a text: a set of JSON Web Keys as the service publishes it, or PEM. */
export const readPublicKeys = Effect.fnUntraced(function*(text: string) {
  if (text.includes("-----BEGIN")) {
    return yield* Effect.map(Effect.forEach(texts(text), readKey), (keys) => keys.map((key) => toJwk(publicOf(key))))
  }
  const { keys } = yield* Effect.mapError(
    Schema.decodeUnknownEffect(Schema.fromJsonString(PublicKeys))(text),
    () => invalid("A file of public keys is what /.well-known/journal-keys answers, or PEM.")
  )
  return keys
})
