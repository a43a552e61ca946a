'use strict';
function spin(ms) { const end = Date.now() + ms; let x = 0; while (Date.now() < end) x += Math.sqrt(x + 1); return x; }
function parseRoute(path) { return /^\/api\/v(\d+)\/(users|orders)\/([0-9a-f]+)$/.exec(path); }
class Cart {
  constructor() { this.items = []; }
  'tot\u00e4l "net"'(n) { let s = 0; for (let i = 0; i < n; i++) { this.items.push({ i, name: 'item' + i }); s += i; } return s; }
}
const evaluated = new Function('n', 'let s = 0; for (let i = 0; i < n; i++) s += Math.sin(i); return s;');
function handle(i) {
  for (let k = 0; k < 3000; k++) parseRoute('/api/v1/users/' + (i * k).toString(16));
  new Cart()['tot\u00e4l "net"'](20000);
  evaluated(50000);
  return JSON.parse(JSON.stringify({ i, list: Array.from({ length: 2000 }, (_, j) => ({ j })) }));
}
for (let i = 0; i < 12; i++) handle(i);
spin(15);
setTimeout(() => handle(1), 20);
