/** The keys of the tokens in the console's forms, newest first. */
import { Context, Effect, Layer, type Redacted } from "effect"
import { FormSignatures } from "../../../ports/signin/SignInSecrets.ts"
import { hmac, keyFile, type Pepper, readKeys, sameText } from "../Peppers.ts"

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

/** Signatures under the keys. */
export const layerSignatures = Layer.effect(
  FormSignatures,
  Effect.map(CsrfKeys, (keys) =>
    FormSignatures.of({
      sign: (text) => hmac(keys[0], text),
      isSigned: (text, signature) => keys.some((key) => sameText(hmac(key, text), signature))
    }))
)
