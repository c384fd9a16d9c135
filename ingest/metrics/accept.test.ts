import { expect, test } from 'vitest';
import { formatFor } from './accept.ts';

const PROMETHEUS_2 =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
const PROMETHEUS_3 =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1';

test.each([
  [PROMETHEUS_2, 'openmetrics'],
  [PROMETHEUS_3, 'openmetrics'],
  ['application/openmetrics-text', 'openmetrics'],
  ['Application/OpenMetrics-Text; Version=1.0.0 ; q=0.9, text/plain; q=0.9', 'openmetrics'],
  ['application/openmetrics-text;q=0.2, text/plain', 'text'],
  ['application/openmetrics-text;q=0', 'text'],
  ['application/openmetrics-text;q=high', 'text'],
  ['application/openmetrics-text;version=0.0.1', 'text'],
  ['application/openmetrics-texts', 'text'],
  ['text/html,*/*;q=0.8', 'text'],
  ['*/*', 'text'],
  ['', 'text'],
  [',;,=', 'text'],
  [undefined, 'text'],
])('%s gets %s', (accept, format) => {
  expect(formatFor(accept)).toBe(format);
});
