import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLog } from './log.ts';

function logged(work: (log: ReturnType<typeof createLog>) => void): string {
  let text = '';
  work(
    createLog('info', (line) => {
      text += line;
    }),
  );
  return text;
}

test('whatever stands in it, an entry is one line of JSON and says nothing of its own', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (message, fact) => {
      const text = logged((log) => log.warn(message, { fact, error: new Error(fact) }));
      expect(text.split('\n')).toHaveLength(2);
      expect(JSON.parse(text)).toMatchObject({ level: 'warn', message, fact, error: { message: fact } });
    }),
  );
});

test('a text that looks like an entry makes none', () => {
  const forged = '"}\n{"level":"error","message":"forged"}\r\n\u001b[31m';
  const text = logged((log) => log.info('real', { trace_id: forged }));
  expect(text.trimEnd().split('\n')).toHaveLength(1);
  expect(text).not.toContain('\u001b');
  expect(JSON.parse(text)).toMatchObject({ level: 'info', message: 'real', trace_id: forged });
});

test('what is below the level is not written', () => {
  expect(logged((log) => log.debug('quiet'))).toBe('');
});
