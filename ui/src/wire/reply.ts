// A reply of the engine: words as JSON, numbers as columns.

export type Column = Uint8Array | Uint32Array | Int32Array | Float64Array;

export interface Reply {
  json: Record<string, any>;
  columns: Record<string, Column>;
}

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
    case 'i32':
      return new Int32Array(bytes, place.offset, place.count);
    case 'f64':
      return new Float64Array(bytes, place.offset, place.count);
    default:
      throw new Error(`unknown column type ${place.type}`);
  }
}

// `bytes` is one whole reply, which the columns go on referring to.
export function parseReply(bytes: ArrayBuffer): Reply {
  const jsonBytes = new DataView(bytes).getUint32(4, true);
  const json = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, kHeaderBytes, jsonBytes)));
  const columns: Record<string, Column> = {};
  for (const [name, place] of Object.entries<ColumnPlace>(json.columns ?? {})) columns[name] = columnAt(bytes, place);
  delete json.columns;
  return { json, columns };
}
