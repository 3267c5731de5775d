// Numbers of modules come from their order, and not from the folder that this is built in: so a test can build it again.
module.exports = { optimization: { moduleIds: "natural", chunkIds: "natural" } };
