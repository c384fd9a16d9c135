import { readFileSync } from 'node:fs';
import { statusOf } from '../ingest/http/answers.ts';
import { ANSWER_SCHEMAS } from './answerSchemas.ts';
import { EVENT_SCHEMAS } from './eventSchemas.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import { reference, type Schema } from './schema.ts';

const PUBLIC = { url: 'http://127.0.0.1:8080', description: 'PORT: the public port' };
const ADMIN = { url: 'http://127.0.0.1:9464', description: 'ADMIN_PORT: never public' };
const RETRY_AFTER = {
  'Retry-After': {
    description: 'seconds to wait before the same is sent again',
    schema: { type: 'integer', minimum: 1 },
  },
};

/** The HTTP API as an OpenAPI 3.1 document, made of the schemas and codes that the service itself goes by. */
export function openApiDocument(): Schema {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of OPERATIONS) {
    const item = paths[operation.path] ?? pathItemOf(operation);
    paths[operation.path] = { ...item, [operation.method]: operationObject(operation) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Firsttoken',
      version,
      summary: 'Takes what servers, clients and gateways saw of a streamed answer, and joins it by trace id.',
      description: 'Meanings, units and what to do about each refusal: docs/http-api.md and docs/concepts.md.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [PUBLIC],
    paths,
    components: {
      schemas: { ...EVENT_SCHEMAS, ...ANSWER_SCHEMAS },
      securitySchemes: {
        writeToken: { type: 'http', scheme: 'bearer', description: 'One of INGEST_TOKEN; none while that is unset.' },
      },
    },
  };
}

function pathItemOf({ path, port }: Operation): Record<string, unknown> {
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  return {
    ...(port === 'public' ? {} : { servers: port === 'both' ? [PUBLIC, ADMIN] : [ADMIN] }),
    ...(parameters.length === 0 ? {} : { parameters }),
  };
}

function operationObject(operation: Operation): Schema {
  const { id, summary, needsToken, headers = {}, body } = operation;
  return {
    operationId: id,
    summary,
    security: needsToken ? [{ writeToken: [] }, {}] : [],
    parameters: headerParameters(headers),
    ...(body === undefined
      ? {}
      : { requestBody: { required: operation.bodyIsOptional !== true, content: contentOf(body) } }),
    responses: responsesOf(operation),
  };
}

/** OpenAPI ignores parameters of these names, because other parts of the document say them. */
const SAID_ELSEWHERE = ['Accept', 'Content-Type', 'Authorization'];

function headerParameters(headers: Readonly<Record<string, string>>): Schema[] {
  return Object.entries(headers)
    .filter(([name]) => !SAID_ELSEWHERE.includes(name))
    .map(([name, description]) => ({ name, in: 'header', description, schema: { type: 'string' } }));
}

function contentOf(content: Readonly<Record<string, Schema>>): Schema {
  return Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }]));
}

/** The good answer, one for each status of the refusals, and what nobody foresaw. */
function responsesOf({ good, others = {}, codes }: Operation): Schema {
  const responses: Record<string, Schema> = {
    [good.status]: {
      description: good.description,
      ...(good.content === undefined ? {} : { content: contentOf(good.content) }),
    },
  };
  for (const [status, { description, schema }] of Object.entries(others))
    responses[status] = { description, content: contentOf({ 'application/json': schema }) };
  for (const status of new Set(codes.map(statusOf))) {
    const words = codes.filter((code) => statusOf(code) === status).sort();
    responses[status] = {
      description: words.map((word) => `\`${word}\``).join(', '),
      ...(status === 429 || status === 503 ? { headers: RETRY_AFTER } : {}),
      content: contentOf({ 'application/json': reference('ErrorAnswer') }),
    };
  }
  responses['default'] = {
    description: '`internal_error` (500): a fault of the service, whose log says why.',
    content: contentOf({ 'application/json': reference('ErrorAnswer') }),
  };
  return responses;
}
