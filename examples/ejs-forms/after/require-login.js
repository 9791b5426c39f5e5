/** In front of the pages that are only for users who have signed in. */
module.exports = (req, res, next) => (req.user ? next() : res.redirect('/login'));
