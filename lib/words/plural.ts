/** The forms of a word that depend on a number, by the categories of {@link Intl.PluralRules}. `other` is the default. */
export type PluralForms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>;

/**
 * Creates the function that chooses the form of a word for a number.
 *
 * @param tag the language, such as `de`
 */
export function pluralsIn(tag: string): (count: number, forms: PluralForms) => string {
  const rules = new Intl.PluralRules(tag);
  return (count, forms) => forms[rules.select(count)] ?? forms.other;
}
