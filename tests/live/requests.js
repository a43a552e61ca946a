'use strict';
// Requests that wait, each with its id in an AsyncLocalStorage: as a property, as an entry of a Map, as the store itself.
// On stdout: one line of JSON, {"r1": ["load < answer", 2], …}, with the chain and how often it is there; then it stays.
const { AsyncLocalStorage } = require('async_hooks');
const storage = new AsyncLocalStorage();
const waiting = [];
const never = () => new Promise((resolve) => { waiting.push(resolve); });
const kept = [];
const expected = {};

async function load() { await never(); }
async function answer() { await load(); }

function request(id, store, work, chain, count) {
  storage.run(store, () => { for (let i = 0; i < count; ++i) kept.push(work()); });
  expected[id] = [chain, count];
}

for (let i = 0; i < 200; ++i) request(`r${i}`, { other: 'secret', id: `r${i}` }, answer, 'load < answer', 1 + i % 3);
for (let i = 0; i < 20; ++i) request(`m${i}`, new Map([['x', 1], ['id', `m${i}`]]), answer, 'load < answer', 2);
for (let i = 0; i < 5; ++i) request(`s${i}`, `s${i}`, answer, 'load < answer', 1);
for (let i = 0; i < 5; ++i) request(`${700 + i}`, { id: 700 + i }, answer, 'load < answer', 3);
kept.push(answer());
expected[''] = ['load < answer', 1];
storage.run({ other: 'secret' }, () => kept.push(answer()));
expected[''][1] += 1;

setTimeout(() => {
  process.stdout.write(JSON.stringify(expected) + '\n');
  setInterval(() => kept.length, 1000);
}, 20);
