/** Sizes of contents, in bytes. */

/** A file that waits lets all smaller ones go first from this size on. */
export const largeFrom = 10 * 1024 * 1024

/** From this size on a page's script writes a content to a file while it comes, in browsers that let it. */
export const writtenFrom = 32 * 1024 * 1024
