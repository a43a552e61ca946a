let a;
//# sourceMappingURL=a.js.map
