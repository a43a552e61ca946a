import { inDependency } from "dep";
class Counter {
  total = 0;
  accumulate(limit: number): number {
    for (let i = 0; i < limit; i++) this.total = (this.total * 31 + i) % 1000003;
    return this.total;
  }
}
const heavyArrow = (rounds: number): number => {
  let sum = 0;
  const counter = new Counter();
  for (let i = 0; i < rounds; i++) sum += counter.accumulate(100000);
  return sum;
};
function hashText(text: string): number {
  let hash = 7;
  for (let i = 0; i < 3000000; i++) hash = (hash * 33 + text.charCodeAt(i % text.length)) | 0;
  return hash;
}
export function serveRequests(seconds: number): void {
  const end = Date.now() + seconds * 1000;
  while (Date.now() < end) {
    heavyArrow(20);
    hashText("hello world");
    inDependency((value: number) => hashText(String(value)));
  }
}
console.log("ready");
serveRequests(Number(process.argv[2] ?? 2));
