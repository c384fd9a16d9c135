import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clientAddress } from './clientAddress.ts';
import { RateLimit } from './rate.ts';

function requestFrom(remoteAddress: string | undefined, forwarded?: string): IncomingMessage {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return { headers, socket: { remoteAddress } } as unknown as IncomingMessage;
}

const PROXY = '10.0.0.2';

describe('X-Forwarded-For', () => {
  test.each<[string, number, string | undefined, string]>([
    ['no proxy of ours: the socket', 0, '6.6.6.6, 203.0.113.9', PROXY],
    ['one: what it appended', 1, '6.6.6.6, 203.0.113.9', '203.0.113.9'],
    ['one: alone', 1, '203.0.113.9', '203.0.113.9'],
    ['two', 2, '6.6.6.6, 203.0.113.9, 198.51.100.7', '203.0.113.9'],
    ['two lines, which Node joins', 1, '6.6.6.6, 7.7.7.7, 203.0.113.9', '203.0.113.9'],
    ['fewer entries than proxies: the socket, not what was sent', 3, '6.6.6.6, 203.0.113.9', PROXY],
    ['no header', 1, undefined, PROXY],
    ['an empty header', 1, '', PROXY],
    ['an empty last entry', 1, '6.6.6.6, ', PROXY],
    ['no blanks', 1, '6.6.6.6,203.0.113.9', '203.0.113.9'],
    ['IPv6', 1, '2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['with its port, which changes with each connection', 1, '6.6.6.6, 203.0.113.9:51234', '203.0.113.9'],
    ['IPv6 with its port', 1, '[2001:db8:1:2:3:4:5:6]:51234', '2001:db8:1:2'],
    ['IPv6 in brackets', 1, '[2001:db8:1:2:3:4:5:6]', '2001:db8:1:2'],
    ['IPv4 in IPv6, with its port', 1, '[::ffff:203.0.113.9]:51234', '203.0.113.9'],
  ])('%s', (_name, hops, forwarded, expected) => {
    expect(clientAddress(requestFrom(PROXY, forwarded), hops)).toBe(expected);
  });

  test('whatever stands on the left, the address is one, and the limiter trips', () => {
    const rate = new RateLimit(50);
    let refused = 0;
    for (let post = 0; post < 1_000; post++) {
      const request = requestFrom(PROXY, `${post}.${post % 256}.1.1, 203.0.113.9`);
      expect(clientAddress(request, 1)).toBe('203.0.113.9');
      if (rate.take(clientAddress(request, 1), 1, 0, 0) > 0) refused++;
    }
    expect(refused).toBe(800);
  });
});

describe('networks', () => {
  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['::FFFF:203.0.113.9', '203.0.113.9'],
    ['::1', '0:0:0:0'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['2001:db8:0:0:1::', '2001:db8:0:0'],
    ['2001:0DB8:0000:0042:ffff:ffff:ffff:ffff', '2001:db8:0:42'],
    ['2001:db8:0:42::7', '2001:db8:0:42'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['1::', '1:0:0:0'],
    ['1:2:3:4:5:6:7::', '1:2:3:4'],
    ['unknown', 'unknown'],
  ])('%s is charged as %s', (address, expected) => {
    expect(clientAddress(requestFrom(address), 0)).toBe(expected);
  });

  test('a closed socket has no address, and that is no fault', () => {
    expect(clientAddress(requestFrom(undefined), 0)).toBe('');
  });

  test('one /64 is one client, in whatever spelling; the next is another', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const charged = clientAddress(requestFrom(address), 0);
        fc.pre(!/^::ffff:\d+\./i.test(address));
        expect(charged).toMatch(/^[0-9a-f]{1,4}(:[0-9a-f]{1,4}){3}$/);
        expect(clientAddress(requestFrom(`${charged}::`), 0)).toBe(charged);
        expect(clientAddress(requestFrom(`${charged}:ffff:1:2:3`.toUpperCase()), 0)).toBe(charged);
      }),
    );
  });

  test('junk is kept short', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), fc.nat(3), (forwarded, hops) => {
        expect(clientAddress(requestFrom(PROXY, forwarded), hops).length).toBeLessThanOrEqual(64);
      }),
    );
  });
});
