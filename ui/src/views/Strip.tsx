import type { ComponentChildren } from 'preact';
import { count, duration, percent, plain } from '../app/format';
import { causesQuery, useEngine, verdictQuery } from '../app/queries';
import { kInitial } from '../app/state';
import { useStore } from '../app/store';
import { asItIs, decodeCauses } from '../wire/decode';
import { kCauses, type About, type Causes } from '../wire/views';
import type { Dialog } from './App';

function Item({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function processWords(about: About): { name: string; detail: string } {
  const seen = about.processes.filter((p) => p.pid !== 0 || p.name);
  const samples = (process: number) => about.threads.reduce((sum, t) => sum + (t.process === process ? t.samples : 0), 0);
  const first = [...seen].sort((a, b) => samples(about.processes.indexOf(b)) - samples(about.processes.indexOf(a)))[0];
  const name = about.facts.command || first?.name || about.name;
  const others = seen.length - 1;
  const detail = [first?.pid ? String(first.pid) : '', others > 0 ? `+ ${others} more` : ''].filter(Boolean).join(' ');
  return { name, detail };
}

// As the engine counts it for the lanes: by weight where that is time, else by samples and their rate.
function cpuSeconds(about: About, causes: Causes | null): number {
  const total = causes?.total ?? 0;
  if (!causes || total === 0) return 0;
  const busy = total - causes.by[kCauses.indexOf('idle')];
  if (causes.unit === 'nanoseconds') return busy / 1e9;
  return causes.unit === 'bytes' || about.rate_hz <= 0 ? 0 : (about.accounting.shown * busy) / total / about.rate_hz;
}

export function startWords(about: About): string {
  if (!about.first_wall_ns) return '';
  return new Date(about.first_wall_ns / 1e6).toLocaleTimeString([], { hour12: false });
}

// What can be trusted: the parts add up to what was taken.
function Trust({ show }: { show: (dialog: Dialog) => void }) {
  const { about } = useStore();
  const { taken, lost } = about.accounting;
  const partial = about.resolved.partial + about.resolved.none;
  const share = (value: number) => (taken > 0 ? value / taken : 0);
  return (
    <div class="trust">
      <Item title="Samples taken">{count(taken)}</Item>
      <Item title="Fully resolved">{percent(share(about.resolved.full))}</Item>
      <Item title="In part">{percent(share(partial))}</Item>
      <Item title="Lost">
        <button type="button" class={lost > 0 ? 'warn' : ''} onClick={() => show('about')}>
          {count(lost)} {lost > 0 && <span class="light">({percent(share(lost), 2)})</span>}
        </button>
      </Item>
    </div>
  );
}

// What the recording says at first sight.
export function VerdictLine() {
  const { state } = useStore();
  const { data } = useEngine(verdictQuery(state), asItIs);
  if (!data?.sentence) return null;
  const { sentence } = data;
  return (
    <p class="verdict" data-testid="verdict" title={plain(sentence, 600)}>
      {plain(sentence, 600)}
    </p>
  );
}

export function Strip({ show }: { show: (dialog: Dialog) => void }) {
  const store = useStore();
  const { about, state } = store;
  const { data: causes } = useEngine(causesQuery({ ...kInitial, file: state.file, event: state.event }), decodeCauses);
  const process = processWords(about);
  const total = causes?.total ?? 0;
  const idle = causes?.by[kCauses.indexOf('idle')] ?? 0;
  const gc = causes?.by[kCauses.indexOf('gc')] ?? 0;
  const seconds = about.duration_ns / 1e9;
  const cpus = seconds > 0 ? cpuSeconds(about, causes) / seconds : 0;
  const started = startWords(about);
  return (
    <dl class="sum">
      <Item title="Process">
        <span class="cut" title={plain(process.name)}>
          {plain(process.name.replace(/ \/.*\//, ' '), 80)}
        </span>{' '}
        <span class="dim">{process.detail}</span>
      </Item>
      {about.facts.node && (
        <Item title="Node">
          {plain(about.facts.node, 40)} {about.facts.v8 && <span class="dim extra">V8 {plain(about.facts.v8, 20)}</span>}
        </Item>
      )}
      {about.facts.container && <Item title="Container">{plain(about.facts.container, 40)}</Item>}
      {about.has_times && (
        <Item title="Recorded">
          {duration(about.duration_ns)} {started && <span class="dim extra">at {started}</span>}
        </Item>
      )}
      {about.rate_hz > 0 && (
        <Item title="Rate">
          {about.rate_estimated ? '≈ ' : ''}
          {Math.round(about.rate_hz)} Hz
        </Item>
      )}
      {cpus > 0 && about.has_times && (
        <Item title="CPU used">
          {cpus.toFixed(2)} {about.facts.cpus && <span class="dim">of {plain(about.facts.cpus, 8)}</span>}
        </Item>
      )}
      {about.kinds_known && total > idle && <Item title="In GC">{percent(gc / (total - idle))}</Item>}
      <Trust show={show} />
    </dl>
  );
}
