// A small service with the troubles that production services have.  A cluster of two workers answers requests with
// JSON, gzip, template and crypto work; an old-generation cache makes collections long; a list of request contexts leaks;
// and the primary blocks its event loop for 1.5 s every few seconds to aggregate metrics by deep copies.
//
//   node service.js [SECONDS]       runs for 10 seconds under its own load, then ends
'use strict';
const cluster = require('node:cluster');
const crypto = require('node:crypto');
const http = require('node:http');
const zlib = require('node:zlib');

const seconds = Number(process.argv[2] || 10);
const WORKERS = 2;

// ---- primary ----

const reports = [];

function deepCopy(value) {
  return JSON.parse(JSON.stringify(value));
}

function percentile(sorted, p) {
  return sorted[Math.floor((sorted.length - 1) * p)];
}

function aggregateMetrics() {
  const end = Date.now() + 1500;
  const summary = {};
  while (Date.now() < end) {
    for (const name of ['json', 'gzip', 'template', 'crypto']) {
      const times = deepCopy(reports.filter((r) => r.route === name).map((r) => r.ms)).sort((a, b) => a - b);
      summary[name] = { p50: percentile(times, 0.5), p99: percentile(times, 0.99), count: times.length };
    }
  }
  return summary;
}

function collectReport(report) {
  reports.push(report);
  if (reports.length > 5000) reports.splice(0, 1000);
}

function runPrimary() {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  let listening = 0;
  for (let i = 0; i < WORKERS; i++) {
    const worker = cluster.fork();
    worker.on('message', collectReport);
    worker.on('listening', (address) => {
      if (++listening === WORKERS) startLoad(address.port);
    });
  }
  const aggregation = setInterval(aggregateMetrics, 4000);
  setTimeout(() => {
    clearInterval(aggregation);
    for (const worker of Object.values(cluster.workers)) worker.send('end');
  }, seconds * 1000);
}

// ---- load: a process of its own, so that it is not in anybody's profile ----

function startLoad(port) {
  const { fork } = require('node:child_process');
  const load = fork(__filename, [String(seconds)], { env: { ...process.env, SERVICE_LOAD_PORT: port }, execArgv: [] });
  load.on('error', () => {});
  console.log('ready');
}

function runLoad(port) {
  const routes = ['/json', '/json', '/template', '/gzip', '/crypto'];
  let next = 0;
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
  const request = () => {
    const path = routes[next++ % routes.length] + '?user=' + (next % 997);
    const again = () => setTimeout(request, 2);
    http.get({ port, path, agent }, (response) => response.resume().on('end', again)).on('error', again);
  };
  for (let i = 0; i < 4; i++) request();
  process.on('disconnect', () => process.exit(0));
  setTimeout(() => process.exit(0), seconds * 1000 - 200);
}

// ---- worker ----

const cache = new Map();
const leaked = [];

function makeOrder(id) {
  return { id, customer: 'customer-' + id, lines: Array.from({ length: 30 }, (_, i) => ({ sku: 'sku-' + i, price: i * 1.5 })) };
}

function fillCache() {
  for (let i = 0; i < 20000; i++) cache.set('order-' + i, makeOrder(i));
}

function handleJson(user) {
  const orders = Array.from({ length: 60 }, (_, i) => makeOrder(user + i));
  return JSON.stringify(JSON.parse(JSON.stringify(orders)));
}

function escapeHtml(text) {
  return text.replace(/[&<>"']/g, (c) => '&#' + c.charCodeAt(0) + ';');
}

function renderTemplate(user) {
  let html = '<table>';
  for (const order of Array.from({ length: 40 }, (_, i) => makeOrder(user + i))) {
    html += '<tr><td>' + escapeHtml(order.customer) + '</td>';
    for (const line of order.lines) html += '<td>' + escapeHtml(line.sku + ' "' + line.price + '"') + '</td>';
    html += '</tr>';
  }
  return html + '</table>';
}

function compressPage(user) {
  return zlib.gzipSync(renderTemplate(user));
}

function signToken(user) {
  return crypto.pbkdf2Sync('secret-' + user, 'salt', 2000, 32, 'sha256').toString('hex');
}

const handlers = { '/json': handleJson, '/template': renderTemplate, '/gzip': compressPage, '/crypto': signToken };

function handleRequest(request, response) {
  const start = process.hrtime.bigint();
  const url = new URL(request.url, 'http://localhost');
  const user = Number(url.searchParams.get('user')) || 0;
  const body = handlers[url.pathname](user);
  cache.set('order-' + (user % 20000), makeOrder(user));
  leaked.push({ url, headers: request.headers, at: Date.now() });
  response.end(body);
  const report = { route: url.pathname.slice(1), ms: Number(process.hrtime.bigint() - start) / 1e6 };
  process.send(report, () => {});  // nobody listens any more when the primary has ended
}

function runWorker() {
  fillCache();
  http.createServer(handleRequest).listen(0, '127.0.0.1');
  process.on('message', () => process.exit(0));
  process.on('disconnect', () => process.exit(0));
}

if (process.env.SERVICE_LOAD_PORT) runLoad(Number(process.env.SERVICE_LOAD_PORT));
else if (cluster.isPrimary) runPrimary();
else runWorker();
