'use strict';
module.exports = (go) => go() + 1;
