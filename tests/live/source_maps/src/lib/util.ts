import { inDependency, assigned } from "dep";

export const arrow = (depth: number): number => {
  if (depth > 0) return arrow(depth - 1);
  globalThis.__probe("arrow");
  return depth;
};

export const typed: (value: string) => Promise<Map<string, number>> = async (value) => {
  globalThis.__probe("typed");
  await null;
  globalThis.__probe("typed");
  return new Map([[value, 1]]);
};

export function* generate(limit: number): Generator<number> {
  for (let i = 0; i < limit; i++) {
    globalThis.__probe("generate");
    yield i;
  }
}

export default function mainFunction(items: string[]): number {
  return items.map((item) => {
    globalThis.__probe("");
    return item.length;
  }).reduce(function sumUp(a, b) {
    globalThis.__probe("sumUp");
    return a + b;
  }, 0);
}

const table = {
  shorthand(value: number) {
    globalThis.__probe("shorthand");
    return value;
  },
  property: function (value: number) {
    globalThis.__probe("property");
    return value;
  },
  arrowProperty: (value: number) => {
    globalThis.__probe("arrowProperty");
    return value;
  },
};

export function useAll(): number {
  inDependency((value: number) => {
    globalThis.__probe("");
    return value;
  });
  assigned((value: number) => {
    globalThis.__probe("");
    return value;
  });
  return table.shorthand(1) + table.property(2) + table.arrowProperty(3);
}
