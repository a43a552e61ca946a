import { count, plain } from '../app/format';
import { useOneStop } from '../views/parts';
import { size } from './format';
import { chosenClass, kClassesQuery, objectsQuery } from './queries';
import { useHeap, useHeapStore } from './store';

export function ObjectsView() {
  const store = useHeapStore();
  const classes = useHeap(kClassesQuery);
  const heapClass = chosenClass(store, classes.data?.heap_class[0]);
  const { data: reply, error } = useHeap(objectsQuery(store, heapClass));
  const { row: stop, ...keys } = useOneStop(reply?.labels.length ?? 0);
  if (error) return <p class="problem">{error}</p>;
  if (!reply) return null;
  return (
    <div class="scrolled" data-testid="objects" {...keys}>
      <p class="insight">
        <b class="mono">{plain(reply.name, 120)}</b>: {count(reply.rows_count)} {store.isComparison ? 'new objects' : 'objects'}
        {reply.rows_count > reply.labels.length ? `, the ${count(reply.labels.length)} largest` : ''}
      </p>
      {reply.labels.map((label, i) => (
        <button type="button" class="obj" key={reply.id[i]} data-row={i} tabIndex={i === stop ? 0 : -1} onClick={() => store.chooseObject(reply.id[i])}>
          <span class="mono nm">{plain(label, 160)}</span>
          <span class="num">{size(reply.retained[i])}</span>
          <span class="mono w">{plain(reply.held[i], 160)}</span>
          <span class="num w">{size(reply.shallow[i])} own</span>
        </button>
      ))}
    </div>
  );
}
