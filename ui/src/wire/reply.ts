// A reply of the engine: words as JSON, numbers as columns, put together as what generated.ts describes.

type Column = Uint8Array | Uint32Array | Float64Array;

interface ColumnPlace {
  type: string;
  offset: number;
  count: number;
}

const kHeaderBytes = 8;

function columnAt(bytes: ArrayBuffer, place: ColumnPlace): Column {
  switch (place.type) {
    case 'u8':
      return new Uint8Array(bytes, place.offset, place.count);
    case 'u32':
      return new Uint32Array(bytes, place.offset, place.count);
    case 'f64':
      return new Float64Array(bytes, place.offset, place.count);
    default:
      throw new Error(`unknown column type ${place.type}`);
  }
}

// `bytes` is one whole reply, which the columns go on referring to.  Their names are paths: "tree.total".
export function parseReply(bytes: ArrayBuffer): unknown {
  const jsonBytes = new DataView(bytes).getUint32(4, true);
  const { columns = {}, ...reply } = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, kHeaderBytes, jsonBytes)));
  for (const [name, place] of Object.entries<ColumnPlace>(columns)) {
    const path = name.split('.');
    const last = path.pop()!;
    path.reduce((inner, key) => inner[key], reply)[last] = columnAt(bytes, place);
  }
  return reply;
}
