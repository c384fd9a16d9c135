import type { Frame } from '../../dashboards/runner/frame.ts';
import type { ShownPanel } from '../dashboards.ts';
import type { View } from './view.ts';

export interface Drawing {
  readonly panel: ShownPanel;
  readonly frames: readonly Frame[];
  readonly view: View;
  readonly body: HTMLElement;
  /** Goes to a path of this page. */
  readonly open: (path: string) => void;
}

/** Draws frames into the body. @returns false when there is nothing to draw */
export type Draw = (drawing: Drawing) => boolean;

export const rowCount = (frame: Frame | undefined): number => frame?.fields[0]?.values.length ?? 0;
