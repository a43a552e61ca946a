function inDependency(callback) {
  return callback(1);
}
exports.inDependency = inDependency;
exports.assigned = (callback) => inDependency((value) => callback(value + 1));
