// Leaks sessions until its heap is full.  Its lines say how many there are, now and then.
'use strict';
const fs = require('node:fs');
class Session { constructor(id) { this.id = id; this.token = 'token-' + id; this.tags = [id]; } }
class SessionStore { constructor() { this.sessions = new Map(); } }
const store = new SessionStore();
function leakSession(id) { store.sessions.set(id, new Session(id)); }
function handleRequests() {
  for (;;) {
    const id = store.sessions.size;
    if (id % 1000 === 0) fs.writeSync(1, id + '\n');
    leakSession(id);
  }
}
setTimeout(handleRequests, 1);
