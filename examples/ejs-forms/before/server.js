const express = require('express');
const session = require('express-session');
const SequelizeStore = require('connect-session-sequelize')(session.Store);
const { sequelize } = require('./models');
const passport = require('./passport');

const app = express();
app.set('view engine', 'ejs');
app.use(express.urlencoded({ extended: false }));
app.use(
  session({
    secret: process.env.SESSION_SECRET,
    store: new SequelizeStore({ db: sequelize, tableName: 'sessions' }),
    resave: false,
    saveUninitialized: false,
    cookie: { maxAge: 14 * 24 * 60 * 60 * 1000, sameSite: 'lax' },
  }),
);
app.use(passport.session());
app.use((req, res, next) => {
  res.locals.user = req.user;
  next();
});

app.use(require('./accounts'));
app.use(require('./posts'));

app.use((error, req, res, next) => {
  if (res.headersSent) return next(error);
  const status = error.status ?? 500;
  res.status(status).render('error', { message: status < 500 ? error.message : 'Something went wrong.' });
});

async function start() {
  await sequelize.sync();
  const server = app.listen(process.env.PORT ?? 3000, () => {
    console.log(`Listening on http://localhost:${server.address().port}`);
  });
}

start();
