// What Chrome DevTools' own engine says of heap snapshots, as JSON on standard output.
//   node devtools.mjs ENGINE SNAPSHOT           every class, every object
//   node devtools.mjs ENGINE OLDER NEWER        the rows of the comparison
//   node devtools.mjs --classes ENGINE SNAPSHOT every class, without the objects
// ENGINE is front_end/entrypoints/heap_snapshot_worker of npm's chrome-devtools-frontend, bundled (see devtools_test.py).
import {createReadStream} from 'node:fs';
import {pathToFileURL} from 'node:url';
import {isMainThread, MessageChannel, Worker, workerData} from 'node:worker_threads';

if (!isMainThread) {
  // DevTools computes retainers and dominators on a thread of its own.
  const {HeapSnapshot} = await import(workerData.engine);
  new HeapSnapshot.SecondaryInitManager(workerData.port);
} else {
  globalThis.location ??= {search: '', href: 'about:blank', pathname: ''};
  const onlyClasses = process.argv[2] === '--classes';
  const [enginePath, ...snapshots] = process.argv.slice(onlyClasses ? 3 : 2);
  const engine = pathToFileURL(enginePath).href;
  const {HeapSnapshotLoader} = await import(engine);

  const open = async path => {
    const loader = new HeapSnapshotLoader.HeapSnapshotLoader({sendEvent() {}});
    for await (const text of createReadStream(path, {encoding: 'utf8', highWaterMark: 1 << 20})) {
      loader.write(text);
      await new Promise(resume => setImmediate(resume));
    }
    loader.close();
    await loader.parsingComplete;
    const {port1, port2} = new MessageChannel();
    const worker = new Worker(new URL(import.meta.url), {workerData: {engine, port: port2}, transferList: [port2]});
    const failed = new Promise((_, reject) => worker.on('error', reject));
    const snapshot = await Promise.race([loader.buildSnapshot(port1), failed]);
    port1.close();
    await worker.terminate();
    return snapshot;
  };

  const write = value => new Promise(done => process.stdout.write(JSON.stringify(value) + '\n', done));
  const newest = await open(snapshots.at(-1));
  if (snapshots.length === 1) {
    const node = newest.createNode(0), dominator = newest.createNode(0), objects = [];
    for (let i = 0; i < newest.nodeCount && !onlyClasses; ++i) {
      node.nodeIndex = i * newest.nodeFieldCount;
      dominator.nodeIndex = node.dominatorIndex();
      objects.push([node.id(), node.selfSize(), node.retainedSize(), dominator.id(), node.distance(), node.className()]);
    }
    const groups = Object.values(newest.aggregatesWithFilter({}))
        .map(row => [row.name, row.count, row.self, row.maxRet, row.distance]);
    const {total, native, v8heap} = newest.getStatistics();
    await write({nodes: newest.nodeCount, edges: newest.containmentEdges.length / newest.edgeFieldsCount, total_bytes: newest.totalSize,
      statistics: {total, native: native.total, typed_arrays: native.typedArrays, code: v8heap.code, js_arrays: v8heap.jsArrays,
        strings: v8heap.strings, system: v8heap.system}, groups, objects});
  } else {
    const base = await open(snapshots[0]);
    const rows = newest.calculateSnapshotDiff(1, base.aggregatesForDiff(newest.interfaceDefinitions()));
    await write(Object.values(rows).map(row => [row.name, row.addedCount, row.removedCount, row.countDelta, row.addedSize,
      row.removedSize, row.sizeDelta]));
  }
  process.exit(0);
}
