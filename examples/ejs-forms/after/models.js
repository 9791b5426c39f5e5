const { DataTypes, Sequelize } = require('sequelize');

const sequelize = new Sequelize(process.env.DATABASE_URL ?? 'postgres://localhost/blog', {
  logging: false,
  define: { underscored: true },
});

const User = sequelize.define('User', {
  username: { type: DataTypes.STRING(20), allowNull: false, unique: true },
  name: { type: DataTypes.STRING(80), allowNull: false },
  authId: { type: DataTypes.UUID, unique: true },
});

const Post = sequelize.define('Post', {
  title: { type: DataTypes.STRING(120), allowNull: false },
  body: { type: DataTypes.TEXT, allowNull: false },
});

const Comment = sequelize.define('Comment', {
  body: { type: DataTypes.TEXT, allowNull: false },
});

// Integer ids, and foreign keys to `users` and `posts` whose rows go with what they refer to.
Post.belongsTo(User, { foreignKey: { name: 'userId', allowNull: false }, onDelete: 'CASCADE' });
Comment.belongsTo(User, { foreignKey: { name: 'userId', allowNull: false }, onDelete: 'CASCADE' });
Comment.belongsTo(Post, { foreignKey: { name: 'postId', allowNull: false }, onDelete: 'CASCADE' });
Post.hasMany(Comment, { foreignKey: 'postId' });

module.exports = { sequelize, User, Post, Comment };
