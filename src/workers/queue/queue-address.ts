// The address of a queue, and the password for it, which is never part of the address.

export interface QueueAddress {
  /** redis:// or rediss://. */
  url: string;
  password: string | undefined;
}
