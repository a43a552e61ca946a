// Sizes `canvas` to so many CSS pixels; what is drawn then is sharp on every screen.
export function prepare(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.max(1, Math.round(width * ratio));
  const h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d')!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.textBaseline = 'middle';
  return context;
}

// Stripes over a rectangle: what colour alone would say.
export function hatch(g: CanvasRenderingContext2D, x: number, y: number, w: number, h: number, colour: string): void {
  const step = 6;
  g.save();
  g.beginPath();
  g.rect(x, y, w, h);
  g.clip();
  g.strokeStyle = colour;
  g.lineWidth = 1.2;
  g.beginPath();
  for (let at = x - h; at < x + w; at += step) {
    g.moveTo(at, y + h);
    g.lineTo(at + h, y);
  }
  g.stroke();
  g.restore();
}
