const express = require('express');
const { optionalSession } = require('latchkey');
const { auth } = require('./auth');
const { sequelize } = require('./models');

const app = express();
app.set('view engine', 'ejs');
app.use(express.urlencoded({ extended: false }));
app.use(optionalSession(auth, { onError: (error, req, res, next) => next(error) }));
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
  await auth.migrate();
  await sequelize.sync();
  const server = app.listen(process.env.PORT ?? 3000, () => {
    console.log(`Listening on http://localhost:${server.address().port}`);
  });
}

start();
