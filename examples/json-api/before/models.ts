import {
  type CreationOptional,
  DataTypes,
  type ForeignKey,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type NonAttribute,
  Sequelize,
} from 'sequelize';

export const sequelize = new Sequelize(process.env.DATABASE_URL ?? 'postgres://localhost/articles', {
  logging: false,
  define: { underscored: true },
});

export class User extends Model<InferAttributes<User>, InferCreationAttributes<User>> {
  declare id: CreationOptional<number>;
  declare email: string;
  declare passwordHash: string;
  declare handle: string;
  declare bio: CreationOptional<string>;
  declare role: CreationOptional<'author' | 'admin'>;
}
User.init(
  {
    id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
    email: { type: DataTypes.STRING, allowNull: false, unique: true },
    passwordHash: { type: DataTypes.STRING(60), allowNull: false },
    handle: { type: DataTypes.STRING(30), allowNull: false, unique: true },
    bio: { type: DataTypes.STRING, allowNull: false, defaultValue: '' },
    role: { type: DataTypes.STRING(10), allowNull: false, defaultValue: 'author' },
  },
  { sequelize, modelName: 'User' },
);

export class Article extends Model<InferAttributes<Article>, InferCreationAttributes<Article>> {
  declare id: CreationOptional<number>;
  declare title: string;
  declare body: string;
  declare authorId: ForeignKey<number>;
  declare author?: NonAttribute<User>;
}
Article.init(
  {
    id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
    title: { type: DataTypes.STRING, allowNull: false },
    body: { type: DataTypes.TEXT, allowNull: false },
  },
  { sequelize, modelName: 'Article' },
);

// An author who has articles cannot be deleted.
Article.belongsTo(User, {
  as: 'author',
  foreignKey: { name: 'authorId', allowNull: false },
  onDelete: 'RESTRICT',
});
