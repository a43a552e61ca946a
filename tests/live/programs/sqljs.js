'use strict';
// SQLite in WebAssembly, which calls back into JavaScript for every row.
const seen = new Map();
require('sql.js')().then(({ Database }) => {
  const database = new Database();
  database.run('create table rows (number int, name text)');
  for (let i = 0; i < 500; i += 1) database.run('insert into rows values (?, ?)', [i, `row ${i}`]);
  database.create_function('half', (number) => {
    if (!seen.has(number)) seen.set(number, number / 2);
    return seen.get(number);
  });
  for (;;) database.exec('select half(number), count(*) from rows where number % 7 = 3 group by number % 10 order by name');
});
