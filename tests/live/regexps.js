'use strict';
// Regular expressions without end, each by a function of its own: for one-byte and two-byte strings, kept and made anew by each
// call, by every method that runs them.
const slow = /(a+)+$/;
const words = /(\w+)\s(\d+)/g;
const wide = /(ä|ö|\u4e2d)+x/u;

function testSlow(text) {
  return slow.test(text);
}
function replaceWords(text) {
  return text.replace(words, '$2 $1');
}
function splitFields(text) {
  return text.split(/[,;]\s*/);
}
function matchPairs(text) {
  let count = 0;
  for (const match of text.matchAll(/([a-z]+)=([^&]*)/g)) count += match.length;
  return count;
}
function execLiteral(text) {
  return /^x(y|z)*\d{3,}/.exec(text);
}
function execWide(text) {
  return wide.exec(text);
}
function searchText(text) {
  return text.search(/q[^u]/);
}

const inputs = [
  [testSlow, 'a'.repeat(16) + 'b'],
  [replaceWords, 'foo 12 bar 345 '.repeat(300)],
  [splitFields, 'a,b; c,d;e'.repeat(300)],
  [matchPairs, 'a=1&bb=22&ccc=333&'.repeat(300)],
  [execLiteral, 'x' + 'yz'.repeat(5000) + '1234'],
  [execWide, 'äö中'.repeat(500)],
  [searchText, 'quququ'.repeat(5000)],
];
console.log('ready');
for (;;) {
  for (const [run, text] of inputs) {
    const end = Date.now() + 20;
    while (Date.now() < end) run(text);
  }
}
