import mainFunction, { arrow, typed, generate, useAll } from "./lib/util";
import { Circle } from "./lib/shapes";

declare global {
  var __probe: (name: string) => void;
}

async function handler(): Promise<void> {
  globalThis.__probe("handler");
  const circle = new Circle(2);
  circle.describe(() => globalThis.__probe(""));
  void circle.doubled;
  circle.reveal();
  arrow(3);
  await typed("x");
  for (const _ of generate(2)) globalThis.__probe("handler");
  mainFunction(["a", "bc"]);
  useAll();
}

globalThis.__probe("");
handler().then(() => globalThis.__probe(""));
