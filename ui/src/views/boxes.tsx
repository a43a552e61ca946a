// What a box of a call tree says and offers, in flame graph and sandwich alike.

import { copy, editorAddress, labelPattern, showFunction, showSource } from '../app/actions';
import { parsePlace, percent, plain, weight } from '../app/format';
import type { Menu, MenuEntry, Store } from '../app/store';
import { changeWords } from '../draw/flame';
import type { FlameLayout } from '../draw/flame_layout';
import { kindName, kKindWords, kTierWords } from '../draw/palette';
import type { Labels } from '../wire/views';

// What colour and pattern say.
function kindWords({ tree }: FlameLayout, labels: Labels, node: number): string {
  const kind = kindName(labels, tree.label[node]);
  const words = [kind === 'loop' ? '' : kKindWords[kind], kTierWords[tree.tier[node]], tree.inlined[node] ? 'inlined into its caller' : ''];
  return words.filter(Boolean).map((word) => `, ${word}`).join('');
}

export function boxWords(layout: FlameLayout, labels: Labels, node: number, total: number, unit: string): string {
  const { tree } = layout;
  const label = tree.label[node];
  const name = label === 0 ? 'all' : labels.names[label];
  const changed = tree.beforeTotal ? `, ${changeWords(tree, node)} points against the baseline` : '';
  return `${plain(name, 200)} ${plain(labels.places[label] ?? '', 200)}, total ${percent(tree.nodeTotal[node] / total)}, ${weight(tree.nodeTotal[node], unit)}, self ${percent(tree.nodeSelf[node] / total)}${changed}${kindWords(layout, labels, node)}`;
}

export function BoxTip(props: { layout: FlameLayout; labels: Labels; node: number; total: number; unit: string; rootName: string }) {
  const { layout, labels, node, total, unit, rootName } = props;
  const { tree } = layout;
  const label = tree.label[node];
  const kind = kindName(labels, label);
  const tier = kTierWords[tree.tier[node]];
  const values: [string, number][] = [
    ['Total', tree.nodeTotal[node]],
    ['Self', tree.nodeSelf[node]],
  ];
  return (
    <>
      <div class="t mono">{label === 0 ? rootName : plain(labels.names[label], 600)}</div>
      <div class="dim">{plain(labels.places[label] ?? '', 600)}</div>
      <table>
        <tbody>
          {values.map(([name, value]) => (
            <tr key={name}>
              <td>{name}</td>
              <td>{weight(value, unit)}</td>
              <td>{percent(total > 0 ? value / total : 0)}</td>
            </tr>
          ))}
          {tree.beforeTotal && (
            <tr>
              <td>Baseline</td>
              <td>{weight(tree.beforeTotal[node], unit)}</td>
              <td>{changeWords(tree, node)} pts</td>
            </tr>
          )}
        </tbody>
      </table>
      {label !== 0 && kind !== 'loop' && (
        <div class="kind">
          <i class="sw" style={{ background: `var(--k-${kind})` }} />
          {kKindWords[kind]}
          {tier ? `, ${tier}` : ''}
          {tree.inlined[node] ? ', inlined into its caller' : ''}
        </div>
      )}
    </>
  );
}

export function boxMenu(store: Store, layout: FlameLayout, labels: Labels, node: number, x: number, y: number, zoom?: () => void): Menu {
  const { tree } = layout;
  const label = tree.label[node];
  const name = labels.names[label];
  const place = labels.places[label] ?? '';
  const { state } = store;
  const pattern = labelPattern(name, place);
  const editor = editorAddress(place);
  const stack = layout
    .path(node)
    .slice(1)
    .map((n) => `${labels.names[tree.label[n]]} ${labels.places[tree.label[n]]}`.trim())
    .reverse()
    .join('\n');
  const entries: (MenuEntry | null)[] = [
    zoom ? { text: 'Zoom to this', run: zoom } : null,
    { text: 'Callers and callees', detail: 'sandwich', run: () => showFunction(store, name, place) },
    { text: 'Focus: only stacks with it', run: () => store.update({ include: [...state.include, pattern], zoom: 0 }) },
    { text: 'Hide stacks with it', run: () => store.update({ exclude: [...state.exclude, pattern], zoom: 0 }) },
    { text: 'Search for it', run: () => store.update({ search: pattern }) },
    parsePlace(place) ? { text: 'Source with samples by line', run: () => showSource(store, place) } : null,
    editor ? { text: 'Open in the editor', detail: 'vscode', run: () => location.assign(editor) } : null,
    { text: 'Copy its name', run: () => void copy(store, `${name} ${place}`.trim(), 'Name') },
    { text: 'Copy the stack', run: () => void copy(store, stack, 'Stack') },
  ];
  return { x, y, title: plain(name, 80), entries: entries.filter((entry) => entry !== null) };
}
