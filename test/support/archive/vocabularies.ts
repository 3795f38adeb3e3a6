import { tokensOfTexts } from "../../../src/domain/archive/Tokens.ts"
import { growVocabulary } from "../../../src/domain/archive/Vocabulary.ts"

/** The vocabulary of pages, each given by its texts, which have so many messages. */
export const makeVocabulary = (pages: ReadonlyArray<ReadonlyArray<string>>, messages: number) => {
  const vocabulary = growVocabulary()
  for (const texts of pages) vocabulary.add(tokensOfTexts(texts))
  return vocabulary.finish(messages)
}
