'use strict';
const { Worker } = require('worker_threads');
new Worker(require.resolve('./tsc.js'));
