/** A value for which its column has no room; PostgreSQL would say so of a text, but not of bytes. */
export class UnstorableValueError extends Error {
  override readonly name = 'UnstorableValueError';
}

/** How many bytes a connection starts with, and how many it keeps when a large flush has passed. */
const KEPT_BYTES = 131_072;
const MAX_KEPT_BYTES = 4_194_304;
/** Longer texts are left to Node, which takes longer to begin but less per character. */
const SHORT_TEXT = 48;
const [PARSE, BIND, EXECUTE, SYNC] = [80, 66, 69, 83];
const TEXT_OID = 25;
const DAY_MS = 86_400_000;
const DAY_ZERO = Date.UTC(2000, 0, 1) / DAY_MS;

/**
 * Messages of PostgreSQL's protocol, written one behind the other into the bytes that leave in one write: prepared statements with
 * binary parameters. Most of what a flush costs is turning numbers into text and back, which this spares both sides.
 *
 * Formats: https://www.postgresql.org/docs/current/protocol-message-formats.html; of elements: the `send` functions of their types.
 */
export class Messages {
  #bytes = Buffer.allocUnsafeSlow(KEPT_BYTES);
  #end = 0;
  /** Where the length of the message, the parameter and the array under way stand. */
  #message = 0;
  #array = 0;

  /** @returns what has been written, valid until {@link clear} */
  written(): Buffer {
    return this.#bytes.subarray(0, this.#end);
  }

  clear(): void {
    this.#end = 0;
    if (this.#bytes.length > MAX_KEPT_BYTES) this.#bytes = Buffer.allocUnsafeSlow(KEPT_BYTES);
  }

  parse(name: string, text: string): void {
    this.#begin(PARSE!);
    this.#zeroEnded(name);
    this.#zeroEnded(text);
    this.#int16(0);
    this.#finish();
  }

  /** Begins to run a prepared statement; its parameters follow, then {@link execute}. Its rows come back as text. */
  bind(name: string, parameters: number): void {
    this.#begin(BIND!);
    this.#zeroEnded('');
    this.#zeroEnded(name);
    this.#int16(1);
    this.#int16(1);
    this.#int16(parameters);
  }

  execute(): void {
    this.#int16(0);
    this.#finish();
    this.#begin(EXECUTE!);
    this.#zeroEnded('');
    this.int32(0);
    this.#finish();
  }

  sync(): void {
    this.#begin(SYNC!);
    this.#finish();
  }

  /** A parameter of one value. */
  float8Parameter(value: number): void {
    this.float8(value);
  }

  /** Begins a parameter that is an array; its elements follow, then {@link endArray}. */
  beginArray(elementOid: number): void {
    this.#room(24);
    this.#array = this.#end;
    this.#end += 8;
    this.#put32(0);
    this.#put32(elementOid);
    this.#end += 4;
    this.#put32(1);
  }

  /** @param hasNulls whether one of them is null */
  endArray(elements: number, hasNulls: boolean): void {
    const end = this.#end;
    this.#end = this.#array;
    if (elements === 0) {
      // Arrays without elements have no dimension either.
      const oid = this.#bytes.readInt32BE(this.#array + 12);
      this.#put32(12);
      this.#put32(0);
      this.#put32(0);
      this.#put32(oid);
      return;
    }
    this.#put32(end - this.#array - 4);
    this.#put32(1);
    this.#put32(hasNulls ? 1 : 0);
    this.#end += 4;
    this.#put32(elements);
    this.#end = end;
  }

  texts(values: readonly string[]): void {
    this.beginArray(TEXT_OID);
    for (const value of values) this.text(value);
    this.endArray(values.length, false);
  }

  null(): void {
    this.int32(-1);
  }

  boolean(value: boolean): void {
    this.#room(5);
    this.#put32(1);
    this.#bytes[this.#end++] = value ? 1 : 0;
  }

  int2(value: number): void {
    if ((value << 16) >> 16 !== value) throw new UnstorableValueError(`${value} is no smallint`);
    this.#room(6);
    this.#put32(2);
    this.#put16(value);
  }

  int4(value: number): void {
    if ((value | 0) !== value) throw new UnstorableValueError(`${value} is no integer`);
    this.#room(8);
    this.#put32(4);
    this.#put32(value);
  }

  int8(value: number): void {
    if (!Number.isSafeInteger(value)) throw new UnstorableValueError(`${value} is no bigint`);
    this.#room(12);
    this.#put32(8);
    this.#put32(Math.floor(value / 0x1_0000_0000));
    this.#put32(value);
  }

  /** Rounds, as the column does. A zero has no sign, as in JSON. */
  float4(value: number): void {
    this.#room(8);
    this.#put32(4);
    this.#end = this.#bytes.writeFloatBE(value + 0, this.#end);
  }

  float8(value: number): void {
    this.#room(12);
    this.#put32(8);
    this.#end = this.#bytes.writeDoubleBE(value + 0, this.#end);
  }

  /** @param day `YYYY-MM-DD` */
  date(day: string): void {
    this.#room(8);
    this.#put32(4);
    this.#put32(Date.parse(day) / DAY_MS - DAY_ZERO);
  }

  /** @param digits lower-case hex, two of each byte: a uuid has 32, a bigint 16 */
  hex(digits: string): void {
    const length = digits.length >> 1;
    this.#room(4 + length);
    this.#put32(length);
    const bytes = this.#bytes;
    for (let at = 0; at < length; at++) {
      bytes[this.#end++] = (digit(digits.charCodeAt(2 * at)) << 4) | digit(digits.charCodeAt(2 * at + 1));
    }
  }

  text(value: string): void {
    this.#room(4 + value.length * 3);
    const at = this.#end;
    this.#end += 4;
    this.#characters(value);
    const end = this.#end;
    this.#end = at;
    this.#put32(end - at - 4);
    this.#end = end;
  }

  int32(value: number): void {
    this.#room(4);
    this.#put32(value);
  }

  #int16(value: number): void {
    this.#room(2);
    this.#put16(value);
  }

  #begin(type: number): void {
    this.#room(5);
    this.#bytes[this.#end++] = type;
    this.#message = this.#end;
    this.#end += 4;
  }

  #finish(): void {
    const end = this.#end;
    this.#end = this.#message;
    this.#put32(end - this.#message);
    this.#end = end;
  }

  #zeroEnded(text: string): void {
    this.#room(text.length * 3 + 1);
    this.#characters(text);
    this.#bytes[this.#end++] = 0;
  }

  #characters(text: string): void {
    const bytes = this.#bytes;
    const begin = this.#end;
    if (text.length <= SHORT_TEXT) {
      let at = 0;
      for (; at < text.length; at++) {
        const code = text.charCodeAt(at);
        if (code > 0x7f) break;
        bytes[begin + at] = code;
      }
      if (at === text.length) {
        this.#end = begin + at;
        return;
      }
    }
    this.#end = begin + bytes.write(text, begin, 'utf8');
  }

  #put16(value: number): void {
    const bytes = this.#bytes;
    bytes[this.#end++] = value >> 8;
    bytes[this.#end++] = value;
  }

  #put32(value: number): void {
    const bytes = this.#bytes;
    bytes[this.#end++] = value >> 24;
    bytes[this.#end++] = value >> 16;
    bytes[this.#end++] = value >> 8;
    bytes[this.#end++] = value;
  }

  #room(bytes: number): void {
    const needed = this.#end + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }
}

function digit(code: number): number {
  return code <= 0x39 ? code - 0x30 : code - 0x57;
}
