// The time axis that the heat map and the lanes share.

import type { Range } from '../app/state';

export const kGutter = 152;
export const kPadRight = 16;

const kColumnSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600].map((s) => s * 1e9);
const kLeastColumnWidth = 3;

export class TimeAxis {
  readonly columnNs: number;
  readonly columns: number;
  readonly fromNs: number;
  readonly toNs: number;

  // Whole columns around `window`, as few seconds to a column as fit into `width`.
  constructor(
    window: Range,
    readonly width: number,
  ) {
    const span = Math.max(1, window[1] - window[0]);
    const most = Math.max(1, Math.floor(this.plotWidth / kLeastColumnWidth));
    this.columnNs = kColumnSteps.find((step) => span / step <= most) ?? Math.ceil(span / most / 3600e9) * 3600e9;
    this.fromNs = Math.floor(window[0] / this.columnNs) * this.columnNs;
    this.columns = Math.max(1, Math.ceil((window[1] - this.fromNs) / this.columnNs));
    this.toNs = this.fromNs + this.columns * this.columnNs;
  }

  get plotWidth(): number {
    return Math.max(1, this.width - kGutter - kPadRight);
  }

  get columnWidth(): number {
    return this.plotWidth / this.columns;
  }

  columnX(column: number): number {
    return kGutter + Math.round(column * this.columnWidth);
  }

  xOf(ns: number): number {
    return kGutter + ((ns - this.fromNs) / (this.toNs - this.fromNs)) * this.plotWidth;
  }

  timeAt(x: number): number {
    return this.fromNs + ((x - kGutter) / this.plotWidth) * (this.toNs - this.fromNs);
  }

  columnAt(x: number): number {
    return Math.floor((x - kGutter) / this.columnWidth);
  }

  // Every how many columns a label fits.
  labelStep(labelWidth: number): number {
    const least = labelWidth / this.columnWidth;
    return [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 1440].find((step) => step >= least) ?? 3600;
  }
}
