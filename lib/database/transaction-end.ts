// What a statement can contain without meaning it: comments, strings and quoted names.
const QUOTED =
  /--[^\n]*|#[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`[^`]*`|(\$\w*\$)[\s\S]*?\1/g;

// `ROLLBACK TO` only undoes a part. A statement that begins a transaction follows the end of the former one.
const ENDS =
  /(?:^|;)\s*(?:commit|rollback(?!\s+(?:work\s+|transaction\s+)?to\b)|end|abort|begin|start\s+transaction|prepare\s+transaction)\b/i;

/** The statements before which MySQL commits. */
const COMMITS_BEFORE =
  /(?:^|;)\s*(?:(?:create|drop)(?!\s+temporary\b)|alter|truncate|rename|lock\s+tables|unlock\s+tables|grant|revoke|analyze|set\s+(?:session\s+)?@*(?:session\.)?autocommit|xa)\b/i;

/** Whether a statement of the app ends the transaction of its connection. */
export function endsTransaction(sql: string, isMysql: boolean): boolean {
  const plain = sql.replace(QUOTED, ' ');
  return ENDS.test(plain) || (isMysql && COMMITS_BEFORE.test(plain));
}
