const url = process.env.DATABASE_URL;

export default {
  client: url.startsWith('mysql') ? 'mysql2' : 'pg',
  connection: url,
};
