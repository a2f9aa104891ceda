/** The floor: a slot's FLOW_MOD with every offset known, as one would write it that needs no other message. */
const block = { bytes: Buffer.allocUnsafeSlow(0x1_0000), at: 0 };

export function rawSlot(xid: number, i: number): Buffer {
  const size = 112;
  if (block.at + size > block.bytes.length) {
    block.bytes = Buffer.allocUnsafeSlow(0x1_0000);
    block.at = 0;
  }
  const b = block.bytes.subarray(block.at, block.at + size);
  block.at += size;
  b.writeUInt32BE(0x040e_0070, 0);
  b.writeUInt32BE(xid, 4);
  b.writeBigUInt64BE(0x4c42_0705_0000_0001n, 8);
  b.writeBigUInt64BE(0n, 16);
  b.writeUInt32BE(0x0b00_0000, 24);
  b.writeUInt32BE(0x0000_0064, 28);
  b.writeUInt32BE(0xffff_ffff, 32);
  b.writeUInt32BE(0xffff_ffff, 36);
  b.writeUInt32BE(0xffff_ffff, 40);
  b.writeUInt32BE(0, 44);
  b.writeUInt32BE(0x0001_0014, 48);
  b.writeUInt32BE(0x0001_0204, 52);
  b.writeUInt32BE(i, 56);
  b.writeUInt32BE(0x0001_0604, 60);
  b.writeUInt32BE(1, 64);
  b.writeUInt32BE(0, 68);
  b.writeUInt32BE(0x0004_0020, 72);
  b.writeUInt32BE(0, 76);
  b.writeUInt32BE(0xffff_0018, 80);
  b.writeUInt32BE(0x0000_2320, 84);
  b.writeUInt32BE(0x0007_001f, 88);
  b.writeUInt32BE(0x0001_0404, 92);
  b.writeBigUInt64BE(BigInt(i + 1), 96);
  b.writeUInt32BE(0x0001_0008, 104);
  b.writeUInt32BE(0x0c00_0000, 108);
  return b;
}
