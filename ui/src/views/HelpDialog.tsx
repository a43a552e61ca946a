import { kKeys } from '../app/keys';
import { Overlay } from './parts';

const kShown: Record<string, string> = { ArrowDown: '↓', ArrowUp: '↑', ArrowRight: '→', ArrowLeft: '←', Escape: 'Esc' };

const kMouse: [string, string][] = [
  ['Heat map: drag, or click twice', 'Select a range of time; it flows down a column and on to the next'],
  ['Heat map: Ctrl and drag, or Ctrl and click', 'A second range, the baseline: the flame graph shows the difference'],
  ['Heat map: wheel', 'Zoom the time axis; with Shift move along it'],
  ['Lane: click on its name', 'Only this thread; with Ctrl compare this thread with the one chosen before; with Shift add it'],
  ['Flame graph: click', 'Zoom to this function; click on a box below to zoom out'],
  ['Flame graph: double click', 'Sandwich: who calls this function, and what it calls'],
  ['Flame graph: right click, or the menu key', 'Focus, hide, callers, copy the stack, open in the editor'],
  ['Flame graph or sandwich with focus: arrows, Enter', 'Walk from box to box, zoom or go on from there'],
  ['List with focus: arrows, Enter', 'Go through its rows, choose one; Tab leaves it'],
  ['Legend: point at an entry, or go there with Tab', 'Dim everything else; a click keeps it so'],
];

export function HelpDialog({ close }: { close: () => void }) {
  return (
    <Overlay title="Keys and gestures" close={close}>
      <table class="keys">
        <tbody>
          {kKeys.map(({ keys, words }) => (
            <tr key={words}>
              <td>
                {keys.map((key) => (
                  <kbd>{kShown[key] ?? key}</kbd>
                ))}
              </td>
              <td>{words}</td>
            </tr>
          ))}
          {kMouse.map(([gesture, words]) => (
            <tr key={gesture}>
              <td>{gesture}</td>
              <td>{words}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Overlay>
  );
}
