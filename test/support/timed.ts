/** For a test that compares wall time with a limit: other processes may delay one try on a busy machine, hardly three. */
export const TIMED = { retry: 2 };
