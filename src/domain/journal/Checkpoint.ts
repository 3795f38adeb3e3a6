/** Signed checkpoints: where an organization's journal stood at a moment, by a key that the database does not hold. */
import { Schema } from "effect"
import { Count, Timestamp } from "../JsonShapes.ts"

const Digest = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/))

/** The purpose of a signature, so that it counts as nothing else. */
const purpose = "org-security-console/journal-checkpoint/1"

const fields = {
  object: Schema.Literal("journal_checkpoint"),
  number: Count.annotate({ description: "Over all organizations of the deployment, from 1, without gaps." }),
  organization: Schema.String,
  sequence: Count.annotate({ description: "The newest event's." }),
  hash: Digest.annotate({ description: "The newest event's." }),
  at: Timestamp,
  previous: Digest.annotate({ description: "SHA-256 of the signed text and the signature of the checkpoint before." }),
  key_id: Schema.String,
  signature: Schema.String
}

export const Checkpoint = Schema.Struct(fields).annotate({ identifier: "journal_checkpoint" })
export type Checkpoint = typeof Checkpoint.Type

/** The signed content, as canonical JSON: everything but the signature, and its purpose. */
export const signed = ({ at, signature: _, ...checkpoint }: Checkpoint) => ({
  purpose,
  ...checkpoint,
  at: at.toISOString()
})

/** The digest that the first checkpoint of a deployment names as the one before it. */
export const noDigest = "0".repeat(64)

/** A public key as JSON Web Key (RFC 8037); `kid` is its thumbprint (RFC 7638). */
export const PublicJwk = Schema.Struct({
  kty: Schema.Literal("OKP"),
  crv: Schema.Literal("Ed25519"),
  x: Schema.String.check(Schema.isPattern(/^[\w-]{43}$/)),
  kid: Schema.String,
  use: Schema.Literal("sig"),
  alg: Schema.Literal("EdDSA")
})
export type PublicJwk = typeof PublicJwk.Type

/** A set of public keys, as it is published. */
export const PublicKeys = Schema.Struct({ keys: Schema.Array(PublicJwk) })
