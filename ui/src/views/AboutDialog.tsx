import { count, duration, percent, plain } from '../app/format';
import { useStore } from '../app/store';
import { Overlay } from './parts';

const kSeverity = { info: 'Note', warning: 'Warning', error: 'Error' } as const;

export function AboutDialog({ close }: { close: () => void }) {
  const { about } = useStore();
  const { taken, shown, lost, other_events: others } = about.accounting;
  const threads = about.threads.filter(({ samples }) => samples > 0); // as info has them
  const rows: [string, string][] = [
    ['File', about.name],
    ['Length', about.has_times ? duration(about.duration_ns) : about.accounting.taken > 1 ? 'not known: its samples have no times' : 'not known'],
    ['Began', about.first_wall_ns ? new Date(about.first_wall_ns / 1e6).toLocaleString() : 'not known'],
    ['Rate', about.rate_hz > 0 ? `${Math.round(about.rate_hz)} Hz${about.rate_estimated ? ', estimated from the samples' : ''}` : 'not known'],
    ['Samples taken', count(taken)],
    ['… shown', count(shown)],
    ...(others > 0 ? [['… of other events', count(others)] as [string, string]] : []),
    ['… lost before they could be written', `${count(lost)}${taken > 0 ? ` (${percent(lost / taken, 2)})` : ''}`],
    ['All frames known', count(about.resolved.full)],
    ['Some frames unknown', count(about.resolved.partial)],
    ['No frame known', count(about.resolved.none)],
    ['Processes and threads', `${count(new Set(threads.map(({ process }) => process)).size)} and ${count(threads.length)}`],
  ];
  return (
    <Overlay title="About this recording" close={close}>
      <table class="facts">
        <tbody>
          {[...rows, ...Object.entries(about.facts).filter(([key]) => key !== 'rate')].map(([key, value]) => (
            <tr key={key}>
              <th scope="row">{plain(key, 60)}</th>
              <td>{plain(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <h3>What to know about its data</h3>
      {about.diagnostics.length === 0 ? (
        <p>Nothing was lost, guessed or damaged.</p>
      ) : (
        <ul class="diagnostics">
          {about.diagnostics.map(({ severity, what, count: times, example }) => (
            <li key={what} class={severity}>
              <b>{kSeverity[severity] ?? severity}</b> {plain(what)}
              {times > 1 && <span class="dim"> · {count(times)} times</span>}
              {example && <div class="dim mono">{plain(example, 400)}</div>}
            </li>
          ))}
        </ul>
      )}
    </Overlay>
  );
}
