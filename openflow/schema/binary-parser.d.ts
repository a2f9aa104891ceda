/**
 * The part of binary-parser that this folder uses. The package's own declarations cannot be found by the NodeNext
 * resolver, since its exports map names none; these also type `this` in the option functions.
 */
declare module "binary-parser" {
  /** Computes an option from the object being filled. */
  type Computed = (this: Record<string, unknown>) => number;

  export class Parser {
    uint8(name: string): this;
    uint16be(name: string): this;
    uint32be(name: string): this;
    uint64be(name: string): this;
    buffer(name: string, options: { length: number | Computed } | { readUntil: "eof" }): this;
    array(name: string, options: { type: Parser; lengthInBytes: Computed } | { type: Parser; readUntil: "eof" }): this;
    choice(options: { tag: string | Computed; choices: Record<number, Parser>; defaultChoice: Parser }): this;
    nest(name: string, options: { type: Parser }): this;
    seek(bytes: number | Computed): this;
    saveOffset(name: string): this;
    create(root: new () => object): this;
    compile(): void;
    parse(buffer: Buffer): unknown;
  }
}
