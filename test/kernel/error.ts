/** What stopped the run, in words for its user: no stack trace. */
export class KernelError extends Error {
  override name = "KernelError";
}
