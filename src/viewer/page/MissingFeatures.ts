/** Features of browsers that the viewer needs, and whether this one has them. */

const inflates = (): boolean => {
  try {
    return new DecompressionStream("deflate-raw") instanceof DecompressionStream
  } catch {
    return false
  }
}

/** The missing features that deriving keys needs, in words. */
export const missingForKeys = (): ReadonlyArray<string> => [
  ...(globalThis.isSecureContext ? [] : ["a secure connection (https), without which browsers have no cryptography"]),
  ...(typeof globalThis.crypto?.subtle === "object" || !globalThis.isSecureContext ? [] : ["cryptography (WebCrypto)"]),
  ...(typeof Worker === "function" ? [] : ["workers"]),
  ...(typeof WebAssembly === "object" ? [] : ["WebAssembly, which derives the key from the password"])
]

/** The features that are missing here, in words. */
export const missing = (): ReadonlyArray<string> => [
  ...missingForKeys(),
  ...(typeof DecompressionStream === "function" && inflates()
    ? []
    : ["decompression (DecompressionStream deflate-raw)"])
]
