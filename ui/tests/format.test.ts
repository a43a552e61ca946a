import { describe, expect, it } from 'vitest';
import { editorAddress, labelPattern } from '../src/app/actions';
import { bytes, clock, duration, fixed, parsePlace, percent, plain, shortName, shortPlace, weight } from '../src/app/format';
import { movedRange } from '../src/app/keys';

describe('numbers', () => {
  it('have their unit', () => {
    expect([0, 850_000, 154e6, 1.5e9, 12.34e9, 125e9, 7260e9].map(duration)).toEqual(['0 s', '850 µs', '154 ms', '1.50 s', '12.3 s', '2 min 5 s', '2 h 1 min']);
    expect([0, 0.0000001, 0.043, 1].map((share) => percent(share))).toEqual(['0 %', '<0.1 %', '4.3 %', '100.0 %']);
    expect([1023, 1024, 3_210_000, 2 ** 60].map(bytes)).toEqual(['1023 B', '1.0 KB', '3.1 MB', '1024.0 PB']);
    expect([0.25, 0.75, 0.35, -0.25, 2.5].map((value) => fixed(value, 1))).toEqual(['0.2', '0.8', '0.3', '-0.2', '2.5']);
    expect([weight(1, 'samples'), weight(1234, 'samples'), weight(1.5e9, 'nanoseconds')]).toEqual(['1 sample', '1,234 samples', '1.50 s']);
  });

  it('have the time from the start', () => {
    expect([clock(0, 1), clock(31.2e9, 1), clock(59.96e9, 1), clock(3661e9, 0)]).toEqual(['00:00.0', '00:31.2', '01:00.0', '1:01:01']);
  });
});

describe('names', () => {
  it('cannot disguise themselves', () => {
    expect(plain('a\u202eb\u0000c\n')).toBe('a\\u{202e}b\\u{0}c\\u{a}');
    expect(plain('<script>alert(1)</script>')).toBe('<script>alert(1)</script>');
    expect(plain('x'.repeat(100_000)).length).toBeLessThan(2100);
  });

  it('lead to the editor where they are files', () => {
    expect(editorAddress('/app/a b.js:88:12')).toBe('vscode://file/app/a%20b.js:88:12');
    expect(editorAddress('file:///app/a.mjs:3')).toBe('vscode://file/app/a.mjs:3:1');
    expect(['node:events:471:5', 'libc.so.6', 'https://example.org/a.js:1:1', ''].map(editorAddress)).toEqual([null, null, null, null]);
  });

  it('are shown relative to the application', () => {
    expect(shortPlace('/app/routes/a.js:88:12', '/app')).toBe('routes/a.js:88');
    expect(shortPlace('/app/node_modules/express/lib/router.js:3:1', '/app')).toBe('express/lib/router.js:3');
    expect(shortPlace('libcrypto.so.3', '/app')).toBe('libcrypto.so.3');
    expect(shortPlace('node:events:471:5', '')).toBe('node:events:471');
  });

  it('of C++ are cut at their beginning', () => {
    expect(shortName('v8::internal::JsonStringifier::Serialize_<a::b>(c::d)', 20)).toBe('…::Serialize_<a::b>(c::d)');
    expect(shortName('a::b', 20)).toBe('a::b');
    expect(shortName('x'.repeat(50), 20)).toBe('x'.repeat(50));
    expect(shortName('<a::b as c::d>::very_long_name_of_rust', 20)).toBe('<a::b as c::d>::very_long_name_of_rust');
  });

  it('have a place', () => {
    expect(parsePlace('node:events:471:5')).toEqual({ file: 'node:events', line: 471, column: 5 });
    expect(parsePlace('/app/a.js:7')).toEqual({ file: '/app/a.js', line: 7, column: 0 });
    expect(parsePlace('libz.so')).toBeNull();
  });

  it('become patterns that match nothing else', () => {
    const pattern = new RegExp(labelPattern('a.b(c)', '/x+y.js:1:2'));
    expect(pattern.test('a.b(c) /x+y.js:1:2')).toBe(true);
    expect(pattern.test('aXb(c) /x+y.js:1:2')).toBe(false);
    expect(new RegExp(labelPattern('std::vector<int>::push_back', 'libfoo.so')).test('std::vector<int>::push_back')).toBe(true);
  });
});

describe('a selection that moves', () => {
  it('stays inside of the recording', () => {
    expect(movedRange([0, 10], 5, false, 100)).toEqual([5, 15]);
    expect(movedRange([90, 100], 5, false, 100)).toEqual([90, 100]);
    expect(movedRange([5, 10], -20, false, 100)).toEqual([0, 5]);
    expect(movedRange([5, 10], 20, true, 100)).toEqual([5, 30]);
    expect(movedRange([5, 10], -20, true, 100)).toEqual([5, 6]);
  });
});
