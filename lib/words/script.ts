/** The language of texts, and the direction of its script. */
export interface Script {
  readonly tag: string;
  readonly dir: 'ltr' | 'rtl';
}
