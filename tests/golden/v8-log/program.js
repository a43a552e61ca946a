'use strict';
class Parser { parse(text) { return JSON.parse(text).map((row) => this.convert(row)); }
  convert(row) { let sum = 0; for (const key of Object.keys(row)) sum += Math.sqrt(row[key]); return sum; } }
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
function match(text) { return /(\w+)\s(\d+)x*y/.test(text); }
const text = JSON.stringify(Array.from({length: 300}, (_, i) => ({a: i, b: i * 2})));
const parser = new Parser();
const end = Date.now() + 1200;
let kept = [];
while (Date.now() < end) { fib(21); parser.parse(text); match('hello 12 '.repeat(50)); kept = kept.concat([{}]).slice(-1000); require('zlib').gzipSync(text); }
