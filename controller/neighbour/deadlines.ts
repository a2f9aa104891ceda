interface Item<T> {
  readonly at: number;
  readonly owner: T;
}

/**
 * Who is due when: a binary heap. A deadline that is moved leaves its old item behind; `current` tells whether an item
 * still counts, and those that do not are dropped when they come to the top.
 */
export class Deadlines<T> {
  readonly #heap: Item<T>[] = [];
  readonly #current: (owner: T) => number | undefined;

  /** @param current the owner's deadline now */
  constructor(current: (owner: T) => number | undefined) {
    this.#current = current;
  }

  add(owner: T, at: number): void {
    const heap = this.#heap;
    let i = heap.push({ at, owner }) - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (heap[parent]!.at <= heap[i]!.at) break;
      [heap[parent], heap[i]] = [heap[i]!, heap[parent]!];
      i = parent;
    }
  }

  /** The earliest deadline. */
  next(): number | undefined {
    for (;;) {
      const top = this.#heap[0];
      if (top === undefined) return undefined;
      if (this.#current(top.owner) === top.at) return top.at;
      this.#pop();
    }
  }

  /** Takes out an owner whose deadline is `now` or earlier. */
  takeDue(now: number): T | undefined {
    const at = this.next();
    return at === undefined || at > now ? undefined : this.#pop();
  }

  #pop(): T | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined || heap.length === 0) return top?.owner;
    heap[0] = last;
    let i = 0;
    for (;;) {
      let least = i;
      for (const child of [2 * i + 1, 2 * i + 2]) {
        const it = heap[child];
        if (it !== undefined && it.at < heap[least]!.at) least = child;
      }
      if (least === i) return top.owner;
      [heap[least], heap[i]] = [heap[i]!, heap[least]!];
      i = least;
    }
  }
}
