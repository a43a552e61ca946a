'use strict';
const http = require('http');
const fastify = require('fastify')();

const rows = Array.from({ length: 50 }, (_, i) => ({ id: i, name: `row ${i}` }));
const row = { type: 'object', properties: { id: { type: 'integer' }, name: { type: 'string' } } };
fastify.get('/rows', { schema: { response: { 200: { type: 'array', items: row } } } }, async () => rows);
fastify.get('/rows/:id', async (request) => rows[request.params.id % rows.length]);
fastify.addHook('onRequest', async (request, reply) => { reply.header('x-answered', 'yes'); });

fastify.listen({ port: 0, host: '127.0.0.1' }).then(() => {
  const { port } = fastify.server.address();
  const agent = new http.Agent({ keepAlive: true });
  const ask = (i) => http.get({ port, agent, path: i % 2 ? `/rows/${i}` : '/rows' }, (response) => {
    response.resume();
    response.on('end', () => ask(i + 1));
  });
  for (let i = 0; i < 4; i += 1) ask(i);
});
