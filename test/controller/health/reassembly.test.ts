import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { add, compare, insert, type Piece, take } from "../../../controller/health/reassembly.ts";

describe("sequence numbers", () => {
  test("go round after 2^32", () => {
    expect(add(0xffff_fffe, 3)).toBe(1);
    expect(compare(1, 0xffff_fffe)).toBe(3);
    expect(compare(0xffff_fffe, 1)).toBe(-3);
    expect(compare(7, 7)).toBe(0);
  });
});

describe("reassembly", () => {
  test("gives back the stream from pieces in any order, with repetitions and overlaps, around any number", () => {
    const span = fc.tuple(fc.nat(99), fc.integer({ min: 1, max: 40 }));
    fc.assert(
      fc.property(fc.nat(0xffff_ffff), fc.array(span, { maxLength: 60 }), (start, spans) => {
        const stream = Buffer.from(Array.from({ length: 100 }, (_, i) => i));
        let waiting: readonly Piece[] = [];
        let next = start;
        const got: Uint8Array[] = [];
        const everything = [...spans, [0, 100] as const];
        for (const [from, length] of everything) {
          const bytes = stream.subarray(from, from + length);
          waiting = insert(waiting, next, { seq: add(start, from), bytes }, 1000);
          const ready = take(waiting, next);
          got.push(...ready.pieces);
          ({ next, rest: waiting } = ready);
          const bounds = waiting.map((w) => [compare(w.seq, next), compare(w.seq, next) + w.bytes.length] as const);
          bounds.forEach(([begin], i) => {
            expect(begin).toBeGreaterThanOrEqual(i === 0 ? 1 : bounds[i - 1]![1]);
          });
        }
        expect(Buffer.concat(got)).toEqual(stream);
        expect(next).toBe(add(start, 100));
        expect(waiting).toEqual([]);
      }),
    );
  });

  test("keeps no more than the window", () => {
    const kept = insert([], 1000, { seq: 1090, bytes: Buffer.alloc(50, 1) }, 100);
    expect(kept).toEqual([{ seq: 1090, bytes: Buffer.alloc(10, 1) }]);
    expect(insert([], 1000, { seq: 1100, bytes: Buffer.alloc(5) }, 100)).toEqual([]);
    expect(insert([], 1000, { seq: 900, bytes: Buffer.alloc(100) }, 100)).toEqual([]);
  });

  test("of bytes that come twice the first are kept", () => {
    const first = insert([], 0, { seq: 2, bytes: Buffer.from("cd") }, 100);
    const second = insert(first, 0, { seq: 0, bytes: Buffer.from("ABCDEF") }, 100);
    expect(
      take(second, 0)
        .pieces.map((p) => Buffer.from(p).toString())
        .join(""),
    ).toBe("ABcdEF");
  });
});
