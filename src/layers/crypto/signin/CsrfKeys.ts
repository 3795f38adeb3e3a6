/** The keys of the tokens in the console's forms, newest first. */
import { Context, Effect, Layer, type Redacted } from "effect"
import { keyFile, type Pepper, readKeys } from "../Peppers.ts"

/** The first one makes tokens, all of them are accepted. */
export class CsrfKeys extends Context.Service<CsrfKeys, readonly [Pepper, ...ReadonlyArray<Pepper>]>()(
  "org-security-console/layers/crypto/signin/CsrfKeys"
) {
  /** Reads a comma-separated list of base64 keys, newest first. */
  static readonly layerText = (text: Redacted.Redacted) => Layer.effect(CsrfKeys, readKeys(text))

  /** Reads the list from the file `csrf-key` in the directory, made with mode 0600 where it is not there yet. */
  static readonly layerDirectory = (directory: string) =>
    Layer.effect(CsrfKeys, Effect.flatMap(keyFile(directory, "csrf-key"), readKeys))
}
