import { useState } from 'preact/hooks';
import { count, percent, plain } from '../app/format';
import type { HeapEdges } from '../wire/generated';
import { size } from './format';
import { objectQuery } from './queries';
import { useHeap, useHeapStore } from './store';

const kFirstRows = 40;

function Edges({ title, edges, none }: { title: string; edges: HeapEdges; none: string }) {
  const store = useHeapStore();
  const [all, setAll] = useState(false);
  const rows = all ? edges.names.length : Math.min(kFirstRows, edges.names.length);
  return (
    <section aria-label={title}>
      <h3 class="sub">
        {title} <span class="dim light">{count(edges.rows_count)}</span>
      </h3>
      {edges.names.length === 0 && <p class="insight">{none}</p>}
      {edges.names.slice(0, rows).map((name, i) => (
        <button
          type="button"
          class={edges.is_own[i] ? 'edge' : 'edge v8'}
          key={i}
          title={`${plain(name, 200)}: ${plain(edges.labels[i], 200)}, retains ${size(edges.retained[i])}`}
          onClick={() => store.chooseObject(edges.id[i])}
        >
          <span class="mono dim">{plain(name, 120)}</span>
          <span class="mono nm">{plain(edges.labels[i], 200)}</span>
          {edges.is_new[i] ? <span class="new">new</span> : <span />}
          <span class="num">{size(edges.retained[i])}</span>
        </button>
      ))}
      {!all && edges.names.length > rows && (
        <button type="button" class="link more" onClick={() => setAll(true)}>
          {count(edges.names.length - rows)} more
        </button>
      )}
      {(all || edges.names.length <= kFirstRows) && edges.rows_count > edges.names.length && (
        <p class="insight">{count(edges.rows_count - edges.names.length)} more are not listed.</p>
      )}
    </section>
  );
}

export function ObjectView() {
  const store = useHeapStore();
  const { data: reply, error } = useHeap(objectQuery(store));
  if (error) return <p class="problem">{error}</p>;
  if (!reply) return <p class="insight">Choose an object: in a path, in the list, or in the dominators.</p>;
  const total = store.about.snapshots[store.about.snapshots.length - 1].bytes;
  return (
    <div class="scrolled" data-testid="object" data-id={reply.id}>
      <p class="insight">
        <b class="mono">{plain(reply.label, 200)}</b>
        {reply.is_new && <span class="new">new</span>}
      </p>
      <p class="place mono">{plain(reply.held, 300)}</p>
      <dl class="facts">
        <dt>Retains</dt>
        <dd>
          {size(reply.retained)} <span class="dim">{percent(reply.retained / total)}</span>
        </dd>
        <dt>Own size</dt>
        <dd>{size(reply.shallow)}</dd>
        <dt>Distance</dt>
        <dd>{reply.distance < 0 ? 'not reached' : reply.distance >= 1e8 ? 'only V8 reaches it' : reply.distance}</dd>
        <dt>Class</dt>
        <dd>
          <button type="button" class="link mono" onClick={() => store.chooseClass(reply.heap_class)}>
            {plain(reply.class_name, 120)}
          </button>
        </dd>
      </dl>
      {reply.text !== undefined && <pre class="text mono">{plain(reply.text, 4000)}</pre>}
      <p class="actions">
        <button type="button" class="btn small" onClick={() => store.update({ zoom: reply.id })}>
          Show in the dominators
        </button>
      </p>
      <Edges key={`p${reply.id}`} title="Refers to" edges={reply.properties} none="It refers to nothing." />
      <Edges key={`r${reply.id}`} title="Retainers" edges={reply.retainers} none="Nothing refers to it." />
    </div>
  );
}
