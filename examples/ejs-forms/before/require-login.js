/** In front of the pages that are only for users who have signed in. */
module.exports = (req, res, next) => (req.isAuthenticated() ? next() : res.redirect('/login'));
