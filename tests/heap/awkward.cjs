// A heap with what is hard to read right, in two snapshots with changes in between.
//   node awkward.cjs FOLDER
'use strict';
const v8 = require('node:v8'), path = require('node:path'), vm = require('node:vm');
const kept = globalThis.kept = {};

kept.twoClassesOfOneName = [
  (() => { class Twin { constructor() { this.left = {}; } } return Array.from({length: 250}, () => new Twin()); })(),
  (() => { class Twin { constructor(i) { this.right = 'r' + i; } } return Array.from({length: 150}, (_, i) => new Twin(i)); })(),
];
kept.shapes = [];
for (let i = 0; i < 400; ++i) {
  kept.shapes.push({id: {}, name: 'n' + i}, {name: 'n' + i, id: {}}, {id: {}, name: 'x', extra: [i], ['odd' + i]: {}},
                   {'a,b': {}, 'q"': [], "it's": {}, '{}': {}});
}
kept.shapes.push({}, Object.create(null), Object.fromEntries(Array.from({length: 60}, (_, i) => ['property' + i, {}])));
for (const name of ['Function', 'RegExp', '(system)', '<div id=x>', '<div>', 'Detached <p a>', 'Detached it', 'Line\nbreak', 'ünïcode\u2028'])
  kept[name] = new ({[name]: class { field = {}; }})[name]();

kept.weak = new WeakMap();
kept.keys = [...Array.from({length: 80}, (_, i) => ({key: i})), kept['Line\nbreak'], kept['ünïcode\u2028']];
for (const key of kept.keys) kept.weak.set(key, {values: new Array(30).fill(0.5)});
new WeakMap().set(kept.keys[0], {tableIsGone: {}});
kept.refs = kept.keys.map(key => new WeakRef(key));
kept.registry = new FinalizationRegistry(() => {});
for (const key of kept.keys) kept.registry.register(key, {held: key.key});

kept.texts = ['', '\b\f\n\r\t"\\/\x01\x7f', 'é漢😀', '\ud800', 'x\udfff', 'long '.repeat(2000)];
kept.joined = Array.from({length: 60}, (_, i) => ('left part ' + i).concat('right part '.repeat(i)));
kept.slices = Array.from({length: 40}, (_, i) => kept.texts[5].slice(i, i + 200));
kept.repeated = Array.from({length: 40}, () => Buffer.from('the same text again').toString());
kept.external = [Buffer.alloc(1.5e6, 'a').toString('latin1'), Buffer.alloc(1.5e6, 'b').toString('utf16le')];

kept.memory = [new ArrayBuffer(7e5), new SharedArrayBuffer(3e5), Buffer.alloc(2e5), new Float64Array(500), new Uint8Array(9)];
kept.views = [new DataView(kept.memory[0]), new Uint16Array(kept.memory[0])];
kept.functions = Array.from({length: 60}, (_, i) => { const big = [i]; return () => big; });
kept.bound = kept.functions.map(f => f.bind(kept, 1));
kept.generator = (function* () { yield kept; })();
kept.generator.next();
kept.promises = [Promise.resolve({}), new Promise(() => {}), (async () => { await new Promise(() => {}); })()];
kept.map = new Map([[{}, new Set([{}])], ['k', new Map()]]);
kept.others = [Symbol('s'), 12n ** 90n, new Date(), new Error('e'), /a+/g, new Proxy({}, {}), -0, NaN, 1.5, [1, , {}]];
kept.others[4].exec('aaa');
kept.context = vm.createContext({inside: {}});
vm.runInContext('class Inner {} this.inner = [new Inner(), new Inner()]', kept.context);
kept.loop = {};
kept.loop.self = {back: kept.loop};

v8.writeHeapSnapshot(path.join(process.argv[2], 'older.heapsnapshot'));
kept.twoClassesOfOneName[0].length = 200;
kept.shapes.push(...Array.from({length: 300}, () => ({id: {}, name: 'new', fresh: {}})));
kept.shapes[0].later = {};
kept.memory.push(new ArrayBuffer(4321));
kept.external = null;
kept.functions.length = 30;
v8.writeHeapSnapshot(path.join(process.argv[2], 'newer.heapsnapshot'));
process.exit(0);
