import { MAX_ARRIVALS, MAX_BODY_BYTES, MAX_EVENTS } from '../../contract/limits.ts';

const ID = '"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"';
const BEACON = `"v":1,${ID},"status":"complete"`;
const ARRIVALS = Array.from({ length: MAX_ARRIVALS }, (_, event) => event).join();
const SUB_STAGES = Array.from({ length: 16 }, (_, stage) => `"s${stage}":1`).join();

/** So often that the body is full; each event with an id of its own. */
function full(piece: string): Buffer {
  const body = piece.repeat(Math.floor(MAX_BODY_BYTES / piece.length));
  return Buffer.from(numbered(body), 'latin1');
}

function numbered(body: string): string {
  let event = 0;
  return body.replaceAll(ID, () => `"trace_id":"4bf92f3577b34da6a3ce929d${(event++).toString(16).padStart(8, '0')}"`);
}

/** Bodies of (nearly) the longest that is read, each of which is much work for somebody. */
export const LARGEST_BODIES: readonly (readonly [what: string, body: Buffer])[] = [
  ['line feeds', full('\n')],
  ['blanks', full(' ')],
  ['carriage returns and line feeds', full('\r\n')],
  ['brackets', full('[')],
  ['quotes', full('"')],
  ['backslashes', full('\\')],
  ['lines of one digit', full('1\n')],
  ['bytes that are no UTF-8', full('\xff\n')],
  ['empty objects', full('{}\n')],
  ['short beacons', full(`{${BEACON},"ttft_ms":1}\n`)],
  [
    '5,000 beacons in an array',
    Buffer.from(numbered(`[${Array.from({ length: MAX_EVENTS }, () => `{${BEACON},"ttft_ms":1,"end_ms":9}`).join()}]`)),
  ],
  ['beacons with 4,096 arrivals', full(`{${BEACON},"arrivals_ms":[${ARRIVALS}]}\n`)],
  ['beacons with a long list of entries', full(`{${BEACON},"server_timing":"${'a;dur=1,'.repeat(1_000)}"}\n`)],
  ['beacons with quotes that never end', full(`{${BEACON},"server_timing":"${'a;desc=\\"'.repeat(900)}"}\n`)],
  ['records with 16 sub-stages', full(`{${ID},"timing_trace":"1,2,3,4,5,6,7","sub_stages":{${SUB_STAGES}}}\n`)],
  [
    'gateway lines with long lists',
    full(`{${ID},"status":"200","upstream_response_time":"${'0.001, '.repeat(2_000)}"}\n`),
  ],
];
