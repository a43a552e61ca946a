import { useContext, useLayoutEffect, useRef } from 'preact/hooks';
import { FloatingContext, useChannel } from '../app/store';

export function Tooltip() {
  const hint = useChannel(useContext(FloatingContext).hint);
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const box = element.current;
    if (!box || !hint) return;
    const { width, height } = box.getBoundingClientRect();
    let x = hint.x + 14;
    let y = hint.y + 16;
    if (x + width > innerWidth - 8) x = hint.x - width - 12;
    if (y + height > innerHeight - 8) y = hint.y - height - 12;
    box.style.left = `${Math.max(8, x)}px`;
    box.style.top = `${Math.max(8, y)}px`;
  }, [hint]);
  if (!hint) return null;
  return (
    <div class="tip" role="tooltip" ref={element}>
      {hint.content}
    </div>
  );
}
