import type { ComponentProps, RefObject } from 'preact';

interface Props extends ComponentProps<'canvas'> {
  wrap: RefObject<HTMLDivElement>;
  canvas: RefObject<HTMLCanvasElement>;
  contentHeight: number;
  scrolled: (top: number) => void;
}

// A canvas as large as its place, over content that may be much taller: what is in sight is drawn, the rest costs nothing.
export function ScrolledCanvas({ wrap, canvas, contentHeight, scrolled, ...rest }: Props) {
  return (
    <div class="flamewrap" ref={wrap} onScroll={(event) => scrolled(event.currentTarget.scrollTop)}>
      <div class="tall" style={{ height: `${contentHeight}px` }}>
        <canvas ref={canvas} class="pinned" {...rest} />
      </div>
    </div>
  );
}
