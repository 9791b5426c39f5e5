// What is longer is judged by the list alone. Nobody tries every letter in every length.
const MAX_PATTERN = 32;
const MAX_UNIT = 4;
// Spaces around anything shorter are what makes it a password.
const MIN_WORD = 8;
const MIN_PIECE = 3;
const TRIED_WITH_DIGITS = 1000;

// Tried with digits behind them too, but not that high on the list, or not at all.
const FURTHER = [
  'adminadmin administrator guest login root toor user linkedin contraseña motdepasse passwort пароль йцукен привет',
  'january february april june july august september october november autumn',
].flatMap((line) => line.split(' '));

// Rows of keyboards, alphabets, columns of a keyboard and of a keypad: fingers walk along them.
const ROWS = [
  '12345678901234567890 abcdefghijklmnopqrstuvwxyz qwertyuiop asdfghjkl; zxcvbnm,./ qwertzuiop yxcvbnm',
  'azertyuiop qsdfghjklm wxcvbn йцукенгшщзхъ фывапролджэ ячсмитьбю',
  'абвгдежзийклмнопрстуфхцчшщъыьэюя αβγδεζηθικλμνξοπρστυφχψω',
  '1qaz 2wsx 3edc 4rfv 5tgb 6yhn 7ujm 8ik, 9ol. 147 258 369 159 357',
].flatMap((line) => line.split(' '));
// Parted by what no password holds.
const WALKS = ROWS.flatMap((row) => [row, [...row].reverse().join('')]).join('\0');

// `1` is read as i and as l; the digits' row is typed with Shift held down too.
const LEET = { '@': 'a', $: 's', '0': 'o', '3': 'e', '4': 'a', '5': 's', '7': 't', '!': 'i' };
const READINGS: Readonly<Record<string, string>>[] = [
  {},
  { ...LEET, '1': 'i' },
  { ...LEET, '1': 'l' },
  Object.fromEntries([...'!@#$%^&*()'].map((sign, index) => [sign, String((index + 1) % 10)])),
];

/** Whether a password is one of those that are tried first, in any case and spelling, or a pattern like them. */
export async function isCommonPassword(password: string): Promise<boolean> {
  const lowerCased = password.normalize('NFKC').toLowerCase();
  const trimmed = lowerCased.trim();
  const folded = trimmed.length < MIN_WORD ? lowerCased : trimmed;
  const { all, words } = await lists();
  const stem = stemOf(folded);
  return READINGS.some((reading) => {
    const read = (text: string) => text.replace(/[^\p{L}]/gu, (sign) => reading[sign] ?? sign);
    return all.has(read(folded)) || isPattern(read(folded)) || (stem !== null && words.has(read(stem)));
  });
}

/** The word before the digits that people add where a site demands one: `admin1234`, `summer2024`. */
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

/** One unit of few characters, again and again. Of those beyond ASCII there are too many for the first tries. */
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

/** Each letter or digit next to the one before it, in any direction: `abcdefgh`, `12344321`, `90123456`. */
function isRun(password: string): boolean {
  if (!/^[a-z\d]+$/.test(password)) return false;
  const points = Array.from(password, (character) => character.codePointAt(0) ?? 0);
  return points.every((point, index) => {
    const step = Math.abs(point - (points[index - 1] ?? point));
    return step <= 1 || (step === 9 && /^\d+$/.test(password));
  });
}

/** Nothing but pieces of rows, and of one character: `1234qwer`, `qazwsxedc`, `111222333`. */
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
  /** The commonest, which are tried with digits behind them. */
  readonly words: ReadonlySet<string>;
}

let loaded: Promise<Lists> | undefined;

// Some 49,000 passwords in lower case: read when the first is needed, not at the start of every app.
function lists(): Promise<Lists> {
  loaded ??= import('@zxcvbn-ts/language-common').then(({ dictionary }) => {
    const listed = dictionary['passwords-common'];
    return {
      all: new Set([...listed, ...FURTHER]),
      words: new Set([...listed.slice(0, TRIED_WITH_DIGITS), ...FURTHER]),
    };
  });
  return loaded;
}
