const bcrypt = require('bcrypt');
const passport = require('passport');
const { Strategy } = require('passport-local');
const { User } = require('./models');

passport.use(
  new Strategy(async (username, password, done) => {
    try {
      const user = await User.findOne({ where: { username } });
      const isRight = user !== null && (await bcrypt.compare(password, user.passwordHash));
      done(null, isRight ? user : false);
    } catch (error) {
      done(error);
    }
  }),
);

passport.serializeUser((user, done) => done(null, user.id));
passport.deserializeUser(async (id, done) => {
  try {
    done(null, (await User.findByPk(id)) ?? false);
  } catch (error) {
    done(error);
  }
});

module.exports = passport;
