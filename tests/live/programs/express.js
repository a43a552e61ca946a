'use strict';
const http = require('http');
const express = require('express');

const app = express();
const rows = Array.from({ length: 50 }, (_, i) => ({ id: i, name: `row ${i}`, tags: ['a', 'b'] }));
app.use(express.json());
app.use((request, response, next) => { response.set('X-Answered', 'yes'); next(); });
app.get('/rows/:id', (request, response) => response.json(rows[request.params.id % rows.length]));
app.get('/rows', (request, response) => response.json(rows.filter((row) => row.id % 2)));
app.post('/rows', (request, response) => response.send(`got ${request.body.length}`));

const body = JSON.stringify(rows);
const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  const agent = new http.Agent({ keepAlive: true });
  const ask = (i) => {
    const post = i % 3 === 0;
    const headers = post ? { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) } : {};
    const path = i % 3 === 1 ? `/rows/${i}` : '/rows';
    const request = http.request({ port, agent, path, method: post ? 'POST' : 'GET', headers }, (response) => {
      response.resume();
      response.on('end', () => ask(i + 1));
    });
    request.end(post ? body : undefined);
  };
  for (let i = 0; i < 4; i += 1) ask(i);
});
