import { sqlite } from 'latchkey/sqlite';
import { Sequelize } from 'sequelize';

/** The connections of this app and of latchkey, so that both can take part in one transaction. */
export const sequelize = new Sequelize({ ...sqlite('./teams.db'), logging: false });
