import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeRecords, encodeRecord, RECORD_HEADER_BYTES } from './record.ts';

const payloads = fc.array(
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  { minLength: 1, maxLength: 6 },
);
const fileOf = (all: readonly Buffer[]) => Buffer.concat(all.map(encodeRecord));

test('what was written is read', () => {
  fc.assert(
    fc.property(payloads, (all) => {
      expect(decodeRecords(fileOf(all))).toEqual({ payloads: all, damaged: 0, tornBytes: 0 });
    }),
  );
});

test('cut anywhere: every whole record, and the rest counts as torn', () => {
  fc.assert(
    fc.property(payloads, fc.nat(), (all, at) => {
      const file = fileOf(all);
      const length = at % (file.length + 1);
      let whole = 0;
      let end = 0;
      while (whole < all.length && end + RECORD_HEADER_BYTES + all[whole]!.length <= length) {
        end += RECORD_HEADER_BYTES + all[whole]!.length;
        whole += 1;
      }
      expect(decodeRecords(file.subarray(0, length))).toEqual({
        payloads: all.slice(0, whole),
        damaged: 0,
        tornBytes: length - end,
      });
    }),
  );
});

test('any byte changed: that record is missing and told, all others are read', () => {
  fc.assert(
    fc.property(payloads, fc.nat(), fc.integer({ min: 1, max: 255 }), (all, at, mask) => {
      const file = fileOf(all);
      const position = at % file.length;
      file[position]! ^= mask;
      let hit = 0;
      for (let end = 0; hit < all.length; hit += 1) {
        end += RECORD_HEADER_BYTES + all[hit]!.length;
        if (position < end) break;
      }
      const reading = decodeRecords(file);
      expect(reading.payloads).toEqual(all.filter((_, index) => index !== hit));
      expect(reading.damaged + (reading.tornBytes > 0 ? 1 : 0)).toBe(1);
    }),
  );
});

test('a record that holds the mark of records', () => {
  const inner = encodeRecord(Buffer.from('inner'));
  expect(decodeRecords(fileOf([inner, Buffer.from('next')])).payloads).toEqual([inner, Buffer.from('next')]);
});
