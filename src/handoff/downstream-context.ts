// The five parts of a Downstream Context.

export const contextKeys = [
  "key_interfaces_introduced",
  "patterns_established",
  "integration_points",
  "assumptions",
  "warnings",
] as const;
export type ContextKey = (typeof contextKeys)[number];
export type DownstreamContext = Record<ContextKey, string[]>;

export function emptyContext(): DownstreamContext {
  return {
    key_interfaces_introduced: [],
    patterns_established: [],
    integration_points: [],
    assumptions: [],
    warnings: [],
  };
}
