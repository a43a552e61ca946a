const { Worker, isMainThread } = require('worker_threads');
function burn(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i); return s; }
function allocate(n) { const a = []; for (let i = 0; i < n; i++) a.push({ i, text: 'x' + i }); return a.length; }
function turn() { burn(1e6); allocate(30000); }
if (isMainThread) new Worker(__filename);
let left = 15;
const timer = setInterval(() => { turn(); if (--left === 0) clearInterval(timer); }, 10);
