/**
 * The store of load balancers: one state, changed by transactions one after the other.
 *
 * Transactions wait while a write is under way; then all that wait run on one draft and share one write (group commit). So
 * nobody sees, and no later transaction builds on, what might still be refused by the disk.
 */
import { type Draft, draftOn } from "./draft.ts";
import type { Change, Snapshot } from "./snapshot.ts";

/** Tells that the state has changed. */
export interface StoreEvent {
  readonly version: number;
  readonly changes: readonly Change[];
}

/** What a transaction came to. */
interface Committed<T> {
  readonly value: T;
  /** The version of the first state that holds it. */
  readonly version: number;
}

/** Any place that keeps the state: a folder, memory, a database server. */
export interface Store {
  /** The newest durable state. */
  read(): Snapshot;
  /**
   * Runs `change` on the state as all earlier transactions left it; resolves when its effect is durable.
   *
   * @throws whatever `change` throws, with nothing changed; {@link StoreUnavailable} when the state cannot be written now
   */
  transact<T>(change: (draft: Draft) => T): Promise<Committed<T>>;
  /** Calls `listener` after each change. @returns a function that ends it */
  subscribe(listener: (event: StoreEvent) => void): () => void;
  /** Waits for the transactions that have begun and lets go of the place; later transactions are refused. */
  close(): Promise<void>;
}

/** The state cannot be written: nothing was changed, the caller may try again. */
export class StoreUnavailable extends Error {
  /** True when the reason is a full disk or quota. */
  readonly full: boolean;
  constructor(message: string, full = false, cause?: unknown) {
    super(message, { cause });
    this.full = full;
  }
}

/** Some transactions' changes, to be made durable together. */
export interface Batch {
  readonly changes: readonly Change[];
  /** The state with the changes in it. */
  readonly next: Snapshot;
}

/** Where batches go. */
export interface Log {
  /** Resolves when the batch is durable. After a rejection the batch must not come back. */
  append(batch: Batch): Promise<void>;
  close(): Promise<void>;
}

interface Job {
  readonly change: (draft: Draft) => unknown;
  readonly resolve: (outcome: Committed<unknown>) => void;
  readonly reject: (error: unknown) => void;
}

/** So many transactions share one write at most: a bound on the time the event loop is busy with them. */
const maxBatch = 512;

/** A store on `log` that begins with `initial`. */
export const storeOn = (log: Log, initial: Snapshot, report: (error: unknown) => void): Store => {
  let state = initial;
  let queue: Job[] = [];
  let working: Promise<void> | undefined;
  let closed = false;
  const listeners = new Set<(event: StoreEvent) => void>();

  const publish = (event: StoreEvent): void => {
    for (const listener of listeners) {
      try {
        listener(event);
      } catch (error) {
        report(error);
      }
    }
  };

  const commit = async (jobs: readonly Job[]): Promise<void> => {
    const drafting = draftOn(state);
    let version = state.version;
    const settle: ((refusal: unknown) => void)[] = [];
    for (const job of jobs) {
      const before = version;
      try {
        const { value, changed } = drafting.run(job.change);
        if (changed) version++;
        const at = version;
        // What ran before the first change of the batch does not depend on the write.
        settle.push((refusal) =>
          refusal !== undefined && at > state.version ? job.reject(refusal) : job.resolve({ value, version: at }),
        );
      } catch (error) {
        settle.push((refusal) => job.reject(refusal !== undefined && before > state.version ? refusal : error));
      }
    }
    let refusal: unknown;
    if (version > state.version) {
      const changes = drafting.changes();
      const next = state.with(changes, version);
      try {
        await log.append({ changes, next });
        state = next;
        publish({ version, changes });
      } catch (error) {
        refusal = error;
      }
    }
    for (const done of settle) done(refusal);
  };

  const work = async (): Promise<void> => {
    while (queue.length > 0) {
      const jobs = queue.slice(0, maxBatch);
      queue = queue.slice(maxBatch);
      await commit(jobs);
    }
    // In the same turn as the last look at the queue, so that no transaction falls between.
    working = undefined;
  };

  return {
    read: () => state,
    transact: <T>(change: (draft: Draft) => T) =>
      new Promise<Committed<T>>((resolve, reject) => {
        if (closed) {
          reject(new StoreUnavailable("the store is closed"));
          return;
        }
        // The outcome's value is what this very `change` returns.
        queue.push({ change, resolve: resolve as (outcome: Committed<unknown>) => void, reject });
        working ??= work();
      }),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    close: async () => {
      if (closed) return;
      closed = true;
      await working;
      await log.close();
    },
  };
};

/** A store that forgets everything at the end of the process. */
export const memoryStore = (initial: Snapshot): Store =>
  storeOn({ append: async () => undefined, close: async () => undefined }, initial, (error) =>
    queueMicrotask(() => {
      throw error;
    }),
  );
