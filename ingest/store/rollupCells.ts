import type pg from 'pg';
import { OTHER_LABEL } from '../../contract/metrics.ts';
import {
  MAX_ROLLUP_COMBINATIONS,
  ROLLUP_DIMENSIONS,
  ROLLUP_GRAINS,
  type RollupDimension,
  type RollupGrain,
  type RollupGrainName,
} from '../../contract/rollups.ts';
import { combinationKey } from '../pipeline/rollupSamples.ts';
import { inTransaction } from './connection.ts';

/** Any number, the same in all replicas: cells are made by one process at a time, so that the cap holds exactly. */
const CELL_LOCK = 7_305_003;

/** Values of the dimensions of one grain. */
export interface Combination {
  readonly grain: RollupGrainName;
  readonly values: readonly string[];
}

/** Numbers of a combination's cells, in the order of the grain's series. */
export type CellIds = readonly number[];

/** One level for each dimension, by its value. */
type Branch = Map<string, Branch | CellIds>;

interface CellRow extends Readonly<Record<RollupDimension, string | null>> {
  readonly id: number;
  readonly grain: RollupGrainName;
  readonly metric: string;
  readonly overflow: boolean;
}

/**
 * The cells that counts go into, by combination of values.
 *
 * The cell of a combination must never change, or a count would be taken away where it was not added. So cells are never removed,
 * and a grain that has reached its cap is closed for good, which stands in the table: the cell that takes the overflow exists.
 * Words are counted as they stand in the row, and not by whether they are accepted label values at that moment, for the same reason.
 *
 * Each process knows all cells, a few megabytes at most. Numbers rise in the order of commits, since they are given under a lock;
 * what another process has made is read from the last known number on.
 */
export class RollupCells {
  readonly #pool: pg.Pool;
  readonly #maxCombinations: number;
  /** A tree of maps and no joined key, since joining costs about ten times the look-ups (as metrics/labelSets.ts). */
  readonly #known: Readonly<Record<RollupGrainName, Branch>> = {
    client: new Map(),
    route: new Map(),
    stage: new Map(),
    outcome: new Map(),
  };
  readonly #combinations = { client: 0, route: 0, stage: 0, outcome: 0 };
  readonly #overflow = new Map<RollupGrainName, CellIds>();
  #lastId = 0;
  #making: Promise<void> | undefined;

  constructor(pool: pg.Pool, maxCombinations = MAX_ROLLUP_COMBINATIONS) {
    this.#pool = pool;
    this.#maxCombinations = maxCombinations;
  }

  /** The cells of a combination, or undefined while they have to be made. */
  find(grain: RollupGrainName, values: readonly string[]): CellIds | undefined {
    let node: Branch | CellIds | undefined = this.#known[grain];
    for (const value of values) {
      node = (node as Branch).get(value);
      if (node === undefined) return this.#overflow.get(grain);
    }
    return node as CellIds;
  }

  /** Makes the cells of combinations that have none; where a grain is full, those of its overflow. */
  async make(combinations: readonly Combination[]): Promise<void> {
    // One after the other: what the one before has made may already be among them.
    while (this.#making) await this.#making.catch(() => {});
    if (combinations.every(({ grain, values }) => this.find(grain, values))) return;
    this.#making = this.#makeMissing(combinations);
    await this.#making.finally(() => {
      this.#making = undefined;
    });
  }

  async #makeMissing(combinations: readonly Combination[]): Promise<void> {
    const made = await inTransaction(this.#pool, async (client) => {
      await client.query('SELECT pg_advisory_xact_lock($1)', [CELL_LOCK]);
      this.#learn((await client.query<CellRow>(READ, [this.#lastId])).rows);
      const wanted = new Map<string, Wanted>();
      const count = { client: 0, route: 0, stage: 0, outcome: 0 };
      for (const { grain, values } of combinations) {
        const key = combinationKey(values);
        if (this.find(grain, values) || wanted.has(`${grain} ${key}`)) continue;
        const full = this.#combinations[grain] + count[grain]++ >= this.#maxCombinations;
        if (!full) wanted.set(`${grain} ${key}`, { grain, values, overflow: false });
        else wanted.set(`overflow ${grain}`, overflowOf(grain));
      }
      if (wanted.size === 0) return [];
      return (await client.query<CellRow>(MAKE, columnsOf([...wanted.values()]))).rows;
    });
    this.#learn(made);
  }

  /** @param rows whole combinations, as they are always made */
  #learn(rows: readonly CellRow[]): void {
    const found = new Map<string, number[]>();
    for (const row of rows) {
      this.#lastId = Math.max(this.#lastId, row.id);
      const { dimensions, series }: RollupGrain = ROLLUP_GRAINS[row.grain];
      const values = dimensions.map((dimension) => row[dimension]!);
      const place = `${row.overflow} ${row.grain} ${combinationKey(values)}`;
      let ids = found.get(place);
      if (!ids) {
        ids = [];
        found.set(place, ids);
        if (row.overflow) this.#overflow.set(row.grain, ids);
        else this.#add(row.grain, values, ids);
      }
      ids[series.findIndex((each) => each.metric === row.metric && each.stage === row.stage)] = row.id;
    }
  }

  #add(grain: RollupGrainName, values: readonly string[], ids: CellIds): void {
    let branch = this.#known[grain];
    for (const value of values.slice(0, -1)) {
      const next = (branch.get(value) as Branch | undefined) ?? new Map<string, Branch | CellIds>();
      branch.set(value, next);
      branch = next;
    }
    branch.set(values.at(-1)!, ids);
    this.#combinations[grain] += 1;
  }
}

interface Wanted extends Combination {
  readonly overflow: boolean;
}

function overflowOf(grain: RollupGrainName): Wanted {
  return { grain, values: ROLLUP_GRAINS[grain].dimensions.map(() => OTHER_LABEL), overflow: true };
}

const COLUMNS = ['grain', 'metric', ...ROLLUP_DIMENSIONS].join(', ');
const READ = `SELECT id, overflow, ${COLUMNS} FROM rollup_cells WHERE id > $1 ORDER BY id`;
/** All cells of a combination at once. A release that adds a series to a grain has to add its cells when it migrates. */
const MAKE = `INSERT INTO rollup_cells (overflow, ${COLUMNS})
  SELECT * FROM unnest($1::boolean[], ${['grain', 'metric', ...ROLLUP_DIMENSIONS].map((_, index) => `$${index + 2}::text[]`).join(', ')})
  RETURNING id, overflow, ${COLUMNS}`;

/** One array per column of {@link MAKE}. */
function columnsOf(wanted: readonly Wanted[]): unknown[][] {
  const columns: unknown[][] = [[], [], [], ...ROLLUP_DIMENSIONS.map(() => [])];
  for (const { grain, values, overflow } of wanted) {
    const { dimensions, series }: RollupGrain = ROLLUP_GRAINS[grain];
    for (const { metric, stage } of series) {
      const row: (string | boolean | null)[] = [overflow, grain, metric];
      for (const dimension of ROLLUP_DIMENSIONS) {
        row.push(dimension === 'stage' ? stage : (values[dimensions.indexOf(dimension)] ?? null));
      }
      for (const [position, value] of row.entries()) columns[position]!.push(value);
    }
  }
  return columns;
}
