import { traceComment, withTraceComment } from './sqlComments.ts';

/** What is used of Kysely's syntax tree, so that this file needs no Kysely. */
interface SyntaxNode {
  readonly kind: string;
}

interface RawSql extends SyntaxNode {
  readonly sqlFragments: readonly string[];
}

interface Query extends SyntaxNode {
  readonly endModifiers?: readonly SyntaxNode[];
}

const QUERIES = new Set(['SelectQueryNode', 'InsertQueryNode', 'UpdateQueryNode', 'DeleteQueryNode', 'MergeQueryNode']);

const rawSql = (sql: string): SyntaxNode => ({ kind: 'RawNode', sqlFragments: [sql], parameters: [] }) as SyntaxNode;

/**
 * A plugin for Kysely that ends each query, and each statement in raw SQL, with the comment of the current request:
 * `new Kysely({ dialect, plugins: [new TraceCommentPlugin()] })`. Statements that define tables stay as they are. It is not needed
 * where Kysely stands on a pool of `commentedPg`. A query that is compiled once and run for many requests keeps the comment of
 * the one that compiled it: that is for `commentedPg`, which replaces it.
 */
export class TraceCommentPlugin {
  transformQuery<Node extends SyntaxNode>({ node }: { readonly node: Node }): Node {
    const comment = traceComment();
    if (comment === '') return node;
    if (node.kind === 'RawNode') return withLastFragment(node as Node & RawSql);
    if (!QUERIES.has(node.kind)) return node;
    const { endModifiers = [] } = node as Query;
    const modifier = rawSql(comment);
    const last = node.kind === 'SelectQueryNode' ? { kind: 'SelectModifierNode', rawModifier: modifier } : modifier;
    return Object.freeze({ ...node, endModifiers: Object.freeze([...endModifiers, last]) });
  }

  async transformResult<Result>({ result }: { readonly result: Result }): Promise<Result> {
    return result;
  }
}

/** Ends with a parameter where its last fragment is empty. */
function withLastFragment<Node extends RawSql>(node: Node): Node {
  const fragments = [...node.sqlFragments];
  const last = fragments.pop() ?? '';
  fragments.push(last === '' ? ` ${traceComment()}` : withTraceComment(last));
  return Object.freeze({ ...node, sqlFragments: Object.freeze(fragments) });
}
