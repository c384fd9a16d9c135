import { SERVER_RECORD_SCHEMA, type ServerRecord } from '../../contract/serverRecord.ts';
import { warnOnce } from './warnings.ts';

/** What the app can say about a request; the rest of the record is measured. */
export type Description = Omit<
  Partial<ServerRecord>,
  'trace_id' | 'trace_id_format' | 'timing_trace' | 'started_at' | 'sub_stages' | 'status' | 'parent_span_id'
>;

const DESCRIBABLE = [
  'server_timing',
  'model',
  'route',
  'variant',
  'tier',
  'backend',
  'prompt_tokens',
  'cached_tokens',
  'output_tokens',
  'quantization',
  'decoding',
  'temperature',
  'top_k',
  'batch_size',
] as const satisfies readonly (keyof Description)[];

interface Bounds {
  readonly type: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/**
 * Keeps the fields that the ingest will take. One wrong field would cost the whole record there, so it is left out here, and said
 * once.
 */
export function checkedDescription(description: Description): Description {
  const kept: Record<string, string | number> = {};
  for (const name of DESCRIBABLE) {
    const value = description[name];
    if (value === undefined || value === null) continue;
    if (fits(value, SERVER_RECORD_SCHEMA.properties[name])) kept[name] = value;
    else warnOnce('field_ignored', `firsttoken: the described field '${name}' is of a wrong type or out of its bounds`);
  }
  return kept;
}

function fits(value: unknown, bounds: Bounds): value is string | number {
  if (typeof value === 'string') {
    const long = value.length;
    return bounds.type.includes('string') && long >= (bounds.minLength ?? 0) && long <= (bounds.maxLength ?? long);
  }
  if (typeof value !== 'number' || !Number.isFinite(value)) return false;
  const typed = bounds.type.includes('number') || (bounds.type.includes('integer') && Number.isInteger(value));
  return typed && value >= (bounds.minimum ?? value) && value <= (bounds.maximum ?? value);
}
