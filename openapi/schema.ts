/** A JSON Schema (draft 2020-12, as OpenAPI 3.1 has it), kept as plain data. */
export type Schema = { readonly [keyword: string]: unknown };

/** One schema for each field of `T`: a field that is renamed in the contract is then a compile error here. */
export type FieldSchemas<T> = { readonly [K in keyof T]-?: Schema };

export function reference(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** An object with exactly these fields, all of which are there. */
export function exactObject<T>(description: string, properties: FieldSchemas<T>): Schema {
  return { type: 'object', description, required: Object.keys(properties), additionalProperties: false, properties };
}

export function orNull(schema: Schema): Schema {
  return { anyOf: [schema, { type: 'null' }] };
}
