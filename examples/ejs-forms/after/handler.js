/** An async handler for Express 4, which does not wait for its promise. */
module.exports = (work) => (req, res, next) => work(req, res, next).catch(next);
