// Ünïcode in a comment: 😀
export type Visit<T> = (value: T) => void;

export abstract class Shape {
  static count = 0;
  #secret = 1;
  constructor(protected readonly label: string) {
    Shape.count++;
  }
  abstract area(): number;
  describe(probe: Visit<string>): string {
    probe(this.label);
    return `${this.label} ${this.area()}`;
  }
  get doubled(): number {
    this.onAccess("doubled");
    return this.area() * 2;
  }
  onAccess = (name: string): void => {
    globalThis.__probe("onAccess " + name);
  };
  #hidden(): number {
    globalThis.__probe("#hidden");
    return this.#secret;
  }
  reveal(): number {
    return this.#hidden();
  }
}

export class Circle extends Shape {
  constructor(private radius: number) {
    super("circle");
    globalThis.__probe("Circle");
  }
  area(): number {
    globalThis.__probe("area");
    return Math.PI * this.radius ** 2;
  }
}
