/** Bounds on what a pusher may make the server read; each has an error of its own. */
export const limits = {
  /** Bytes of the file as pushed. */
  fileBytes: 1024 * 1024,
  /** Lexical tokens of the file; keeps the time to parse a hostile file below about a second. */
  tokens: 250_000,
  /** Nesting of lists and mappings, aliases followed. */
  depth: 100,
  aliases: 10_000,
  /** Characters after all aliases are followed. */
  expandedSize: 8 * 1024 * 1024,
  /** Characters of all jobs together once the global settings are copied into each. */
  planSize: 8 * 1024 * 1024,
  jobs: 500,
  nameLength: 255,
  /** Of one job. The set of them is the key of an index and part of a wake-up, which have little room. */
  tags: 50,
  /** Characters of all tags of one job. */
  tagsLength: 500,
  errors: 20,
  warnings: 100,
  scriptNesting: 10,
  patternLength: 1024,
  /** Sum of the upper bounds of counted repetitions in one pattern; they are copied when compiled. */
  patternRepeats: 300,
  /** Different regular expressions in one file. */
  patterns: 200,
} as const;
