/** Sizes of contents, in bytes. */

/** From this size on a page's script writes a content to a file while it comes, in browsers that let it. */
export const writtenFrom = 32 * 1024 * 1024
