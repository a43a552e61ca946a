// Colours as people see them who lack one kind of cones, or all.

export type Vision = 'normal' | 'protanopia' | 'deuteranopia' | 'tritanopia' | 'achromatopsia';
export type Colour = [number, number, number]; // linear light, 0 to 1

// Machado, Oliveira, Fernandes 2009, severity 1.0; the last is luminance alone.
const kMatrices: Record<Vision, number[][]> = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
  achromatopsia: [[0.2126, 0.7152, 0.0722], [0.2126, 0.7152, 0.0722], [0.2126, 0.7152, 0.0722]],
};

export function fromHex(hex: string): Colour {
  const channel = (at: number) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

export function seen(colour: Colour, vision: Vision): Colour {
  return kMatrices[vision].map((row) => Math.max(0, Math.min(1, row[0] * colour[0] + row[1] * colour[1] + row[2] * colour[2]))) as Colour;
}

export function luminance([r, g, b]: Colour): number {
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(a: Colour, b: Colour): number {
  const [dark, bright] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (bright + 0.05) / (dark + 0.05);
}

function lab([r, g, b]: Colour): number[] {
  const f = (t: number) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047);
  const y = f(luminance([r, g, b]));
  const z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

export function lightness(colour: Colour): number {
  return lab(colour)[0];
}

const kDegree = Math.PI / 180;

function hue(b: number, a: number): number {
  const angle = Math.atan2(b, a) / kDegree;
  return angle < 0 ? angle + 360 : angle;
}

// CIEDE2000: 1 is what can just be seen side by side, 10 is told apart at a glance.
export function difference(one: Colour, other: Colour): number {
  return labDifference(lab(one), lab(other));
}

export function labDifference([l1, a1, b1]: number[], [l2, a2, b2]: number[]): number {
  const saturated = (c: number) => Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7));
  const g = 1.5 - 0.5 * saturated((Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2);
  const c1 = Math.hypot(a1 * g, b1);
  const c2 = Math.hypot(a2 * g, b2);
  const [h1, h2] = [hue(b1, a1 * g), hue(b2, a2 * g)];
  const grey = c1 * c2 === 0;
  const turn = grey ? 0 : ((h2 - h1 + 540) % 360) - 180;
  const dH = 2 * Math.sqrt(c1 * c2) * Math.sin((turn / 2) * kDegree);
  const l = (l1 + l2) / 2;
  const c = (c1 + c2) / 2;
  const h = grey ? h1 + h2 : (h1 + turn / 2 + 360) % 360;
  const t = 1 - 0.17 * Math.cos((h - 30) * kDegree) + 0.24 * Math.cos(2 * h * kDegree) + 0.32 * Math.cos((3 * h + 6) * kDegree) - 0.2 * Math.cos((4 * h - 63) * kDegree);
  const byL = (l2 - l1) / (1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2));
  const byC = (c2 - c1) / (1 + 0.045 * c);
  const byH = dH / (1 + 0.015 * c * t);
  const turned = -Math.sin(60 * Math.exp(-(((h - 275) / 25) ** 2)) * kDegree) * 2 * saturated(c);
  return Math.sqrt(byL ** 2 + byC ** 2 + byH ** 2 + turned * byC * byH);
}
