import { count, percent, plain } from '../app/format';
import type { HeapHolderReply, HeapPath } from '../wire/generated';
import { size } from './format';
import { chosenClass, holderQuery, kClassesQuery } from './queries';
import { useHeap, useHeapStore } from './store';

const kMostSteps = 24;

export interface Step {
  row: number; // of the path
  hidden: number; // steps of V8's own before it
  via: string;
}

// The program's own objects; what V8 puts between them is counted, and the last name on the way there stays.
export function shownSteps(path: HeapPath): Step[] {
  const steps: Step[] = [];
  let hidden = 0;
  let via: string[] = [];
  const last = path.labels.length - 1;
  for (let row = 0; row <= last; row++) {
    if (path.via[row]) via.push(path.via[row]);
    if (path.is_own[row] || row === 0 || row === last) {
      steps.push({ row, hidden, via: via.filter((name) => !/^(table|elements|properties|value|part of key.*)$/.test(name)).at(-1) ?? via.at(-1) ?? '' });
      hidden = 0;
      via = [];
    } else {
      hidden++;
    }
  }
  return steps.length <= kMostSteps ? steps : [...steps.slice(0, kMostSteps / 2), ...steps.slice(-kMostSteps / 2)];
}

function PathStep({ reply, step, isHolder, isLast }: { reply: HeapHolderReply; step: Step; isHolder: boolean; isLast: boolean }) {
  const store = useHeapStore();
  const { path } = reply;
  const { row } = step;
  const share = reply.objects > 0 ? path.objects[row] / reply.objects : 0;
  const words = isLast
    ? `one of ${count(reply.objects)}${store.isComparison ? ' new ones' : ''}`
    : `${count(path.objects[row])} of them through here, ${percent(share)}`;
  return (
    <li class={isHolder || isLast ? 'step hot' : 'step'}>
      {step.row > 0 && (
        <div class="via mono">
          <i style={{ width: `${2 + 8 * share}px` }} />
          <span>{plain(step.via, 120)}</span>
          {step.hidden > 0 && <span class="dim">{` (+${step.hidden} of V8)`}</span>}
        </div>
      )}
      <button type="button" class="box" onClick={() => store.chooseObject(path.id[row])} data-id={path.id[row]}>
        <span class="mono nm">{plain(path.labels[row], 160)}</span>
        <span class="num">{size(path.retained[row])}</span>
        <span class="w">{words}</span>
        <span class="w num">{path.is_new[row] ? 'new' : 'retained'}</span>
      </button>
    </li>
  );
}

export function HolderView() {
  const store = useHeapStore();
  const classes = useHeap(kClassesQuery);
  const heapClass = chosenClass(store, classes.data?.heap_class[0]);
  const { data: reply, error, loading } = useHeap(holderQuery(heapClass));
  if (error) return <p class="problem">{error}</p>;
  if (!reply) return <p class="insight">{loading ? 'Looking for what holds them' : ''}</p>;
  if (reply.path.labels.length === 0) return <p class="insight">No root of the program reaches an object of {plain(reply.class_name, 200)}.</p>;
  const steps = shownSteps(reply.path);
  // What V8 keeps for an object is part of it.
  const holder = steps.findLast(({ row }) => row <= reply.step)?.row;
  return (
    <div class="scrolled" data-testid="holder">
      <p class="insight">
        <b class="mono">{plain(reply.class_name, 120)}</b>: {count(reply.objects)} {store.isComparison ? 'new objects' : 'objects'},{' '}
        {percent(reply.objects > 0 ? reply.through / reply.objects : 0)} of them held by
      </p>
      <p class="place mono" data-testid="holder-place">
        {plain(reply.holder, 300)}
      </p>
      {reply.path.left_out > 0 && <p class="insight">A list: {count(reply.path.left_out)} of its links are left out.</p>}
      <ol class="chain">
        {steps.map((step) => (
          <PathStep key={step.row} reply={reply} step={step} isHolder={step.row === holder} isLast={step.row === reply.path.labels.length - 1} />
        ))}
      </ol>
    </div>
  );
}
