import { english, type MailWords } from '../words/emails/index.js';
import type { AdvicePage } from './layout.js';

/** The text of an advice, with its page. */
interface EarlierAdvice {
  readonly text: string;
  readonly page: AdvicePage;
  readonly action: string;
}

/** A template of version 0.1.0, which has its texts, in English, in place of their name. */
interface EarlierTemplate {
  readonly kind: string;
  readonly subject: string;
  readonly first?: EarlierAdvice;
  readonly advice?: EarlierAdvice;
  readonly last?: EarlierAdvice;
  /** `{expiry}` in it stands for the sentence that says when the link expires. */
  readonly after?: string;
  /** `{within}` in it stands for the time in which a change can be undone. */
  readonly undo?: string;
  readonly help?: string;
  readonly lines?: readonly string[];
}

/** Whether an earlier version has left an email with this template in the outbox. */
export function isEarlier(template: object): boolean {
  return 'subject' in template;
}

/** Returns what an earlier version has written as a template of today and its words, so that the email is sent as it is. */
export function ofEarlier<Template extends object>(
  earlier: Template,
): { readonly template: Template; readonly words: MailWords } {
  const { kind, first, advice, last, after, undo, help, ...rest } = earlier as EarlierTemplate;
  const text = {
    ...rest,
    ...(first && { first }),
    ...(advice && { advice }),
    ...(last && { last }),
    ...(after !== undefined && {
      after: ({ expiry }: { readonly expiry: string }) => after.replace('{expiry}', () => expiry),
    }),
    ...(undo !== undefined && {
      undo: ({ within }: { readonly within: string }) => undo.replace('within {within}', () => within),
    }),
    ...(help !== undefined && { help }),
  };
  const isNotice = rest.lines !== undefined;
  const named = { ...rest, kind, text: kind, advicePage: (first ?? advice ?? last)?.page };
  return {
    template: { ...named, ...(isNotice && help !== undefined && { help: 'notYou' }) } as unknown as Template,
    words: {
      ...english,
      help: { ...english.help, notYou: () => help ?? '' },
      texts: { ...english.texts, [kind]: text },
    },
  };
}
