import { useContext, useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { FloatingContext, useChannel } from '../app/store';
import { returnFocus } from './parts';

export function ContextMenu() {
  const floating = useContext(FloatingContext);
  const menu = useChannel(floating.menu);
  const close = () => floating.showMenu(null);
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!menu) return;
    const onPress = (event: PointerEvent) => {
      if (!element.current?.contains(event.target as Node)) close();
    };
    window.addEventListener('pointerdown', onPress);
    return () => window.removeEventListener('pointerdown', onPress);
  }, [menu]);
  useLayoutEffect(() => {
    const box = element.current;
    if (!box || !menu) return;
    const before = document.activeElement;
    const { width, height } = box.getBoundingClientRect();
    box.style.left = `${Math.max(8, Math.min(menu.x, innerWidth - width - 8))}px`;
    box.style.top = `${Math.max(8, Math.min(menu.y, innerHeight - height - 8))}px`;
    box.querySelector('button')?.focus();
    return () => returnFocus(before);
  }, [menu]);
  if (!menu) return null;
  const step = (event: KeyboardEvent) => {
    const buttons = [...element.current!.querySelectorAll('button')];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (!by) return;
    event.preventDefault();
    buttons[(at + by + buttons.length) % buttons.length].focus();
  };
  return (
    <div class="menu" role="menu" ref={element} onKeyDown={step}>
      {menu.title && <div class="mh mono">{menu.title}</div>}
      {menu.entries.map(({ text, detail, run }) => (
        <button
          type="button"
          role="menuitem"
          key={text}
          onClick={() => {
            close();
            run();
          }}
        >
          {text}
          {detail && <span>{detail}</span>}
        </button>
      ))}
    </div>
  );
}
