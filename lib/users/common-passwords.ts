// Longer passwords are only looked up in the list, since attackers do not try patterns of every length.
const MAX_PATTERN = 32;
const MAX_UNIT = 4;
// For shorter words, surrounding spaces are part of the password.
const MIN_WORD = 8;
const MIN_PIECE = 3;
const WORDS_WITH_DIGITS = 1000;

// Words that attackers also combine with digits, but that rank low on the list or are missing from it.
const EXTRA_WORDS = [
  'adminadmin administrator guest login root toor user linkedin contraseña motdepasse passwort пароль йцукен привет',
  'january february april june july august september october november autumn',
].flatMap((line) => line.split(' '));

// Keyboard rows, alphabets, and the columns of keyboards and keypads.
const ROWS = [
  '12345678901234567890 abcdefghijklmnopqrstuvwxyz qwertyuiop asdfghjkl; zxcvbnm,./ qwertzuiop yxcvbnm',
  'azertyuiop qsdfghjklm wxcvbn йцукенгшщзхъ фывапролджэ ячсмитьбю',
  'абвгдежзийклмнопрстуфхцчшщъыьэюя αβγδεζηθικλμνξοπρστυφχψω',
  '1qaz 2wsx 3edc 4rfv 5tgb 6yhn 7ujm 8ik, 9ol. 147 258 369 159 357',
].flatMap((line) => line.split(' '));
// Separated by NUL, which no password contains.
const WALKS = ROWS.flatMap((row) => [row, [...row].reverse().join('')]).join('\0');

// There are two leet readings, because `1` can stand for i or l. The last reading maps the shifted digit row of a US
// keyboard to digits.
const LEET = { '@': 'a', $: 's', '0': 'o', '3': 'e', '4': 'a', '5': 's', '7': 't', '!': 'i' };
const READINGS: Readonly<Record<string, string>>[] = [
  {},
  { ...LEET, '1': 'i' },
  { ...LEET, '1': 'l' },
  Object.fromEntries([...'!@#$%^&*()'].map((symbol, index) => [symbol, String((index + 1) % 10)])),
];

/** Whether a password is a common one, in any case or leet spelling, or a common pattern. */
export async function isCommonPassword(password: string): Promise<boolean> {
  const lowerCased = password.normalize('NFKC').toLowerCase();
  const trimmed = lowerCased.trim();
  const folded = trimmed.length < MIN_WORD ? lowerCased : trimmed;
  const { all, words } = await lists();
  const stem = stemOf(folded);
  return READINGS.some((reading) => {
    const read = (text: string) => withLetters(text, reading);
    return all.has(read(folded)) || isPattern(read(folded)) || (stem !== null && words.has(read(stem)));
  });
}

/** Lower-cases a string, and also replaces characters by the letters that they stand for: `acme` for `4cm3`. */
export function readingsOf(text: string): string[] {
  const folded = text.normalize('NFKC').toLowerCase();
  return READINGS.map((reading) => withLetters(folded, reading));
}

function withLetters(text: string, reading: Readonly<Record<string, string>>): string {
  return text.replace(/[^\p{L}]/gu, (character) => reading[character] ?? character);
}

/** The word before the digits that people append to satisfy composition rules: `admin1234`, `summer2024`. */
function stemOf(password: string): string | null {
  const tail = /\d+$/.exec(password);
  const digits = tail?.[0] ?? '';
  const isUsual = digits.length <= 2 || /^(19|20)\d\d$/.test(digits) || isRun(digits) || isRepeated(digits);
  return tail && isUsual ? password.slice(0, tail.index) : null;
}

function isPattern(password: string): boolean {
  if (password.length > MAX_PATTERN) return false;
  const bare = password.replace(/^\D{1,2}(?=\d{6})|(?<=\d{6})\D{1,2}$/g, '');
  return isRepeated(password) || isRun(password) || isWalk(bare);
}

/** Whether a password repeats a few characters. Only ASCII counts: there are too many other characters to try. */
function isRepeated(password: string): boolean {
  const characters = [...password];
  if (!/^\p{ASCII}*$/u.test(password)) return false;
  const units = Array.from({ length: MAX_UNIT }, (_, index) => index + 1);
  return units.some(
    (unit) =>
      characters.length >= 2 * unit &&
      characters.every((character, index) => index < unit || character === characters[index - unit]),
  );
}

/** Whether each letter or digit equals or adjoins the previous one: `abcdefgh`, `12344321`, `90123456`. */
function isRun(password: string): boolean {
  if (!/^[a-z\d]+$/.test(password)) return false;
  const points = Array.from(password, (character) => character.codePointAt(0) ?? 0);
  return points.every((point, index) => {
    const step = Math.abs(point - (points[index - 1] ?? point));
    return step <= 1 || (step === 9 && /^\d+$/.test(password));
  });
}

/** Whether a password consists of pieces of rows and of repeated characters: `1234qwer`, `qazwsxedc`, `111222333`. */
function isWalk(password: string): boolean {
  const reached = new Set([0]);
  for (const start of reached) {
    for (let end = start + MIN_PIECE; end <= password.length; end++) {
      const piece = password.slice(start, end);
      if (!WALKS.includes(piece) && !/^([ -~])\1*$/.test(piece)) break;
      reached.add(end);
    }
  }
  return reached.has(password.length);
}

interface Lists {
  readonly all: ReadonlySet<string>;
  /** The most common words, which attackers combine with digits. */
  readonly words: ReadonlySet<string>;
}

let loaded: Promise<Lists> | undefined;

// About 49,000 passwords in lower case, loaded on first use instead of at startup.
function lists(): Promise<Lists> {
  loaded ??= import('@zxcvbn-ts/language-common').then(({ dictionary }) => {
    const listed = dictionary['passwords-common'];
    return {
      all: new Set([...listed, ...EXTRA_WORDS]),
      words: new Set([...listed.slice(0, WORDS_WITH_DIGITS), ...EXTRA_WORDS]),
    };
  });
  return loaded;
}
