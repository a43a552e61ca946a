// What the recordings of JavaScript are of.
function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
function compareTotals(a, b) {
  return a.total - b.total || (a.id < b.id ? -1 : 1);
}
class Server {
  sort(seed) {
    const orders = Array.from({ length: 2000 }, (_, id) => ({ id, total: (id * seed) % 101 }));
    return orders.sort(compareTotals)[0].id;
  }
  parse(text) {
    return text.replace(/(\w+)=(\d+);?/g, (_, key, value) => key + value.length).length;
  }
}
const server = new Server();
const text = 'alpha=1;beta=22;gamma=333;'.repeat(200);
const until = Date.now() + 250;
let sum = 0;
while (Date.now() < until) sum += fib(20) + server.sort(sum + 7) + server.parse(text);
