import { emailFormatsIn } from '../../words/email-formats.js';
import type { EmailWords } from '../../words/emails/index.js';
import { pluralsIn } from '../../words/plural.js';

const { date, time, duration } = emailFormatsIn('de');
const plural = pluralsIn('de');

const BROWSERS = new Intl.ListFormat('de', { type: 'disjunction' });

/** The sentences that say that an account was deleted, and how it can be restored. */
function deletion({ at, until }: { readonly at: Date; readonly until: Date | null }): string {
  return until === null
    ? `Ihr Konto wurde am ${date(at)} gelöscht.`
    : `Ihr Konto wurde am ${date(at)} gelöscht. Bis zum ${date(until)} kann es wiederhergestellt werden: mit dem Link in unserer E-Mail über die Löschung oder von den Betreibern dieser App.`;
}

/** What stands before an undo link that undoes all later changes too. */
function undoAll({ within }: { readonly within: string }): string {
  return `Wenn Sie das nicht waren, melden Sie sich hier überall ab und machen Sie alle späteren Änderungen rückgängig. Dafür haben Sie ${within}:`;
}

/** What users do who have not opened a link in time. */
const anotherLink = {
  text: 'Danach können Sie dort, wo Sie sich anmelden, einen neuen Link anfordern.',
  action: 'Neuen Link anfordern',
};

/** The words of emails in German. */
export const emails: EmailWords = {
  date,
  time,
  duration,
  linkExpiry: ({ ms, until }) =>
    until === null
      ? `Der Link ist ${duration(ms)} gültig.`
      : `Der Link ist ${duration(ms)} gültig, bis zum ${time(until)}.`,
  codeExpiry: ({ ms, until }) => `Der Code ist ${duration(ms)} gültig, bis zum ${time(until)}.`,
  // It follows "Dafür haben Sie", because a duration would need the dative after "innerhalb von".
  within: ({ ms, until }) =>
    until === null ? `${duration(ms)} Zeit` : `${duration(ms)} Zeit, bis zum ${date(until)}`,
  openLink: 'Oder öffnen Sie diesen Link:',

  labels: {
    account: 'Konto',
    subject: 'Betrifft',
    time: 'Zeitpunkt',
    device: 'Gerät',
    ip: 'IP-Adresse',
  },
  detail: (label, value) => `${label}: ${value}`,
  unknownDevice: 'ein unbekanntes Gerät',
  unknownBrowser: 'ein unbekannter Browser',
  deviceOn: (browser, system) => `${browser} auf ${system}`,
  browserOn: (system) => `ein Browser auf ${system}`,

  unverified:
    'Sie erhalten diese E-Mail, weil jemand Ihre Adresse für ein Konto verwendet hat. Wenn Sie kein Konto haben, ignorieren Sie diese E-Mail.',
  undo: ({ within }) => `Wenn Sie das nicht waren, machen Sie es hier rückgängig. Dafür haben Sie ${within}:`,
  undoAction: 'Das war ich nicht',
  // The names are in parentheses, because they cannot be inflected.
  undoWhere: (browsers) =>
    browsers.length === 0
      ? 'Öffnen Sie den Link auf einem Gerät, das Sie vor dieser Änderung verwendet haben. Möglicherweise werden Sie nach Ihrem Passwort gefragt.'
      : `Öffnen Sie den Link auf einem Gerät, das Sie vor dieser Änderung verwendet haben (zum Beispiel ${BROWSERS.format(browsers)}). Möglicherweise werden Sie nach Ihrem Passwort gefragt.`,
  undoNowhere: {
    newPassword: {
      text: 'Wenn Sie das nicht waren, wählen Sie ein neues Passwort:',
      action: 'Neues Passwort wählen',
    },
    afterNewPassword: ({ support, within, url }) =>
      `Wenden Sie sich dann an ${support}. Um rückgängig zu machen, was getan wurde, wird dort dieser Link benötigt. Dafür haben Sie ${within}: ${url}`,
    withoutNewPassword: ({ support, within, url }) =>
      `Wenn Sie das nicht waren, wenden Sie sich an ${support}. Um rückgängig zu machen, was getan wurde, wird dort dieser Link benötigt. Dafür haben Sie ${within}: ${url}`,
  },
  help: {
    byApp: ({ support }) =>
      `Die App oder ein Administrator hat diese Änderung vorgenommen. Wenn Sie sie nicht erwartet haben, wenden Sie sich an ${support}.`,
    notYou: ({ support }) => `Wenn Sie das nicht waren, wenden Sie sich an ${support}.`,
  },
  // In the accusative, after "wenden Sie sich an".
  people: (appName) => (appName === null ? 'die Betreiber dieses Dienstes' : `die Betreiber von ${appName}`),

  texts: {
    // Emails with a link.
    'verify-email': {
      subject: 'E-Mail-Adresse bestätigen',
      before: 'Bitte bestätigen Sie, dass diese E-Mail-Adresse Ihnen gehört:',
      action: 'Adresse bestätigen',
      after: ({ expiry }) =>
        `${expiry} Wenn Sie sich nicht registriert haben, können Sie diese E-Mail ignorieren.`,
    },
    'verify-new-email': {
      subject: 'Neue E-Mail-Adresse bestätigen',
      before: 'Bitte bestätigen Sie, dass dies die neue E-Mail-Adresse Ihres Kontos ist:',
      action: 'Adresse bestätigen',
      after: ({ expiry }) =>
        `${expiry} Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail: Es wurde nichts geändert.`,
    },
    'reset-password': {
      subject: 'Neues Passwort wählen',
      before:
        'Jemand hat ein neues Passwort für Ihr Konto angefordert. Wenn Sie das waren, wählen Sie hier eines:',
      action: 'Neues Passwort wählen',
      after: ({ expiry }) =>
        `${expiry} Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Ihr Passwort wurde nicht geändert.`,
    },
    'reset-password/existing-account': {
      subject: 'Sie haben bereits ein Konto',
      first: {
        text: 'Jemand hat sich mit Ihrer E-Mail-Adresse registriert, aber Sie haben bereits ein Konto. Wenn Sie das waren, melden Sie sich wie gewohnt an.',
        action: 'Anmelden',
      },
      before: 'Wenn Sie Ihr Passwort vergessen haben, wählen Sie hier ein neues:',
      action: 'Neues Passwort wählen',
      after: ({ expiry }) =>
        `${expiry} Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Es wurde nichts geändert.`,
    },
    'reset-password/required': {
      subject: 'Neues Passwort wählen',
      before: 'Sie haben Ihr Passwort eingegeben, aber Ihr Konto braucht ein neues. Wählen Sie es hier:',
      action: 'Neues Passwort wählen',
      after: ({ expiry }) =>
        `${expiry} Wenn Sie das nicht waren, kennt jemand Ihr Passwort: Wählen Sie mit diesem Link ein neues.`,
    },
    'reset-password/by-administrator': {
      subject: 'Neues Passwort wählen',
      before: ({ appName }) =>
        appName === null
          ? 'Ein Administrator bittet Sie, ein neues Passwort für Ihr Konto zu wählen. Wählen Sie hier eines:'
          : `Ein Administrator von ${appName} bittet Sie, ein neues Passwort für Ihr Konto zu wählen. Wählen Sie hier eines:`,
      action: 'Neues Passwort wählen',
      after: ({ expiry }) => `${expiry} Bis Sie ein neues Passwort wählen, bleibt Ihr aktuelles unverändert.`,
    },
    'reset-password/restored': {
      subject: 'Neues Passwort wählen',
      before:
        'Ihr Konto wurde wiederhergestellt. Alle Sitzungen wurden beendet, und das frühere Passwort funktioniert nicht mehr. Wählen Sie hier ein neues Passwort:',
      action: 'Neues Passwort wählen',
      after: ({ expiry }) => expiry,
      last: anotherLink,
    },
    'reset-password/undone': {
      subject: 'Neues Passwort wählen',
      before:
        'Eine Änderung Ihres Kontos wurde rückgängig gemacht. Alle Sitzungen wurden beendet, und das Passwort wurde entfernt, weil jemand anderes es kennen könnte. Wählen Sie hier ein neues Passwort:',
      action: 'Neues Passwort wählen',
      after: ({ expiry }) => expiry,
      last: anotherLink,
    },
    invitation: {
      subject: 'Ihr neues Konto',
      before: 'Für Sie wurde ein Konto erstellt. Wählen Sie hier ein Passwort:',
      action: 'Passwort wählen',
      after: ({ expiry }) =>
        `${expiry} Wenn Sie das nicht erwartet haben, können Sie diese E-Mail ignorieren.`,
    },
    'organization-invitation': {
      subject: 'Einladung in eine Organisation',
      before: ({ inviter, organization }) =>
        inviter === null
          ? `Sie sind eingeladen, ${organization} beizutreten.`
          : `${inviter} lädt Sie ein, ${organization} beizutreten.`,
      action: 'Einladung ansehen',
      after: ({ expiry }) => `${expiry} Wenn Sie nicht wissen, wer Sie einlädt, ignorieren Sie diese E-Mail.`,
    },

    // Emails with a code, and emails in place of one.
    'browser-code': {
      subject: 'Ihr Anmeldecode',
      before:
        'Jemand hat das Passwort Ihres Kontos in einem Browser eingegeben, der für Ihr Konto neu ist. Wenn Sie das waren, geben Sie dort diesen Code ein:',
      help: 'Wenn Sie das nicht waren, kennt jemand Ihr Passwort. Ohne den Code kann sich diese Person nicht anmelden. Wählen Sie hier ein neues Passwort:',
      action: 'Neues Passwort wählen',
    },
    'verification-code': {
      subject: 'Code zur Bestätigung Ihrer E-Mail-Adresse',
      before:
        'Bitte bestätigen Sie, dass diese E-Mail-Adresse Ihnen gehört. Geben Sie diesen Code dort ein, wo Sie sich angemeldet oder registriert haben:',
      help: 'Wenn Sie das nicht waren, können Sie diese E-Mail ignorieren. Geben Sie den Code nicht weiter.',
    },
    'reset-code': {
      subject: 'Ihr Code für ein neues Passwort',
      before:
        'Jemand hat ein neues Passwort für Ihr Konto angefordert. Wenn Sie das waren, geben Sie diesen Code in dem Browser ein, in dem Sie ihn angefordert haben:',
      help: 'Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Ihr Passwort wurde nicht geändert. Geben Sie den Code nicht weiter.',
    },
    'sign-in-code': {
      subject: 'Ihr Anmeldecode',
      before: 'Geben Sie diesen Code in dem Browser ein, in dem Sie ihn angefordert haben:',
      beforeLink: 'Im selben Browser können Sie stattdessen diesen Link öffnen:',
      action: 'Anmelden',
      help: 'Wenn Sie den Code nicht angefordert haben, ignorieren Sie diese E-Mail. Ohne ihn kann sich niemand anmelden, geben Sie ihn also nicht weiter.',
    },
    'sign-in-code/reauthentication': {
      subject: 'Ihr Code',
      before:
        'Um Ihre Identität zu bestätigen, geben Sie diesen Code in dem Browser ein, in dem Sie ihn angefordert haben:',
      beforeLink: 'Im selben Browser können Sie stattdessen diesen Link öffnen:',
      action: 'Anmelden',
      help: 'Geben Sie den Code nicht weiter.',
      advice: {
        text: 'Wenn Sie den Code nicht angefordert haben, ist möglicherweise jemand anderes bei Ihrem Konto angemeldet. Sehen Sie Ihre Sitzungen an und melden Sie sich dort ab, wo Sie eine nicht erkennen.',
        action: 'Sitzungen ansehen',
      },
    },
    'no-account': {
      subject: 'Für Ihre Adresse gibt es kein Konto',
      before: 'Jemand wollte sich mit dieser E-Mail-Adresse anmelden, aber dafür gibt es kein Konto.',
      beforeLink:
        'Wenn Sie das waren, verwenden Sie die Adresse Ihres Kontos oder registrieren Sie sich hier:',
      action: 'Registrieren',
      help: 'Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail.',
    },
    'no-account/deleted': {
      subject: 'Ihr Konto wurde gelöscht',
      before: (values) => `Jemand wollte sich mit dieser E-Mail-Adresse anmelden. ${deletion(values)}`,
      help: 'Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail.',
    },
    'account-exists': {
      subject: 'Sie haben bereits ein Konto',
      before:
        'Jemand wollte sich mit dieser E-Mail-Adresse registrieren, aber dafür gibt es bereits ein Konto.',
      beforeLink:
        'Wenn Sie das waren, melden Sie sich an. Wenn Sie das Passwort nicht kennen, wählen Sie hier ein neues:',
      action: 'Neues Passwort wählen',
      help: 'Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Es wurde nichts geändert.',
    },

    // Notices.
    'password-set': {
      subject: 'Für Ihr Konto wurde ein Passwort festgelegt',
      lines: [
        'Ihr Konto hatte kein Passwort und hat jetzt eines. Wer das Passwort kennt, kann sich anmelden.',
      ],
    },
    'password-changed': {
      subject: 'Ihr Passwort wurde geändert',
      lines: ['Das Passwort Ihres Kontos wurde geändert.'],
    },
    'password-removed': {
      subject: 'Ihr Passwort wurde entfernt',
      lines: ['Ihr Konto hat kein Passwort mehr. Ihre anderen Anmeldemethoden funktionieren weiterhin.'],
    },
    'password-removed/first-proof': {
      subject: 'Ihr Passwort wurde entfernt',
      lines: [
        'Jemand hat sich zum ersten Mal mit einem Code, der an diese Adresse gesendet wurde, bei Ihrem Konto angemeldet. Ihr Konto hatte ein Passwort, das vorher jemand anderes gewählt haben könnte. Deshalb wurde es entfernt.',
        'Wenn Sie sich mit einem Passwort anmelden möchten, wählen Sie ein neues.',
      ],
    },
    'new-password-required': {
      subject: 'Neues Passwort wählen',
      lines: ['Ihr Konto braucht ein neues Passwort, und alle Sitzungen wurden beendet.'],
      advice: {
        text: 'Melden Sie sich ein letztes Mal mit Ihrem aktuellen Passwort an. Wählen Sie dann ein neues, auf der Seite oder mit einem Link, den wir Ihnen per E-Mail senden.',
        action: 'Anmelden',
      },
    },
    'email-change-requested': {
      subject: 'Ihre E-Mail-Adresse soll geändert werden',
      lines: [
        'Jemand, der bei Ihrem Konto angemeldet ist, möchte dessen E-Mail-Adresse ändern. Ein Link zur Bestätigung wurde an die neue Adresse gesendet.',
      ],
      advice: {
        text: 'Wenn Sie das waren, brauchen Sie nichts zu tun. Wenn Sie es sich anders überlegt haben, brechen Sie die Änderung dort ab, wo Sie sie angefordert haben. Wenn Sie das nicht waren, legen Sie jetzt ein Passwort fest oder ändern Sie Ihr Passwort, damit der Link zur Bestätigung nicht mehr funktioniert.',
        action: 'Passwort ändern',
      },
    },
    'email-changed': {
      subject: 'Ihre E-Mail-Adresse wurde geändert',
      lines: ['Ihr Konto hat eine neue E-Mail-Adresse. Diese Adresse gehört nicht mehr zu Ihrem Konto.'],
    },
    'email-change-conflict': {
      subject: 'Sie haben mit dieser Adresse bereits ein Konto',
      lines: [
        'Jemand wollte diese E-Mail-Adresse für ein anderes Konto verwenden. Es wurde nichts geändert, weil Ihr Konto diese E-Mail-Adresse hat.',
      ],
      advice: {
        text: 'Wenn Sie das waren, melden Sie sich zuerst bei dem Konto an, das diese E-Mail-Adresse hat, und ändern Sie dessen E-Mail-Adresse oder löschen Sie es. Wenn Sie das nicht waren, ignorieren Sie diese E-Mail.',
        action: 'Anmelden',
      },
    },
    'username-changed': {
      subject: 'Ihr Benutzername wurde geändert',
      lines: [
        'Ihr Konto hat einen neuen Benutzernamen. Mit dem früheren können Sie sich nicht mehr anmelden.',
      ],
    },
    'device-forgotten': {
      subject: 'Ein Browser wurde aus Ihrem Konto entfernt',
      lines: [
        'Ein Browser wurde aus der Liste der Browser entfernt, die Ihr Konto kennt. Die nächste Anmeldung dort gilt als Anmeldung in einem neuen Browser.',
      ],
      about: 'Browser',
    },
    'new-device': {
      subject: 'Anmeldung in einem neuen Browser',
      lines: [
        'Jemand hat sich bei Ihrem Konto angemeldet, und zwar in einem Browser, der für das Konto neu ist.',
      ],
      undo: undoAll,
    },
    'data-exported': {
      subject: 'Die Daten Ihres Kontos wurden heruntergeladen',
      lines: [
        'Jemand hat sich bei Ihrem Konto angemeldet und eine Datei mit den Daten heruntergeladen, die über Sie gespeichert sind.',
      ],
      undo: undoAll,
    },
    'second-factor-enabled': {
      subject: 'Zwei-Faktor-Authentifizierung aktiviert',
      lines: [
        'Ab jetzt ist für die Anmeldung bei Ihrem Konto auch ein Code aus Ihrer Authenticator-App nötig. Alle anderen Sitzungen wurden beendet.',
      ],
    },
    'second-factor-enabled/passkeys': {
      subject: 'Zwei-Faktor-Authentifizierung aktiviert',
      lines: [
        'Ab jetzt ist für die Anmeldung bei Ihrem Konto auch einer Ihrer Passkeys nötig. Alle anderen Sitzungen wurden beendet.',
      ],
    },
    'second-factor-enabled/passkey-added': {
      subject: 'Zwei-Faktor-Authentifizierung aktiviert',
      lines: [
        'Zu Ihrem Konto wurde ein Passkey hinzugefügt. Ab jetzt ist für die Anmeldung bei Ihrem Konto einer Ihrer Passkeys nötig. Alle anderen Sitzungen wurden beendet.',
      ],
      about: 'Passkey',
    },
    'second-factor-disabled': {
      subject: 'Zwei-Faktor-Authentifizierung deaktiviert',
      lines: [
        'Die Anmeldung bei Ihrem Konto erfordert keine Zwei-Faktor-Authentifizierung mehr. Auch Ihre Backup-Codes wurden gelöscht.',
      ],
    },
    'second-factor-disabled/everything': {
      subject: 'Zwei-Faktor-Authentifizierung deaktiviert',
      lines: [
        'Ihr Konto hat keine Zwei-Faktor-Authentifizierung mehr. Seine Passkeys und Backup-Codes wurden gelöscht. Wenn Sie sich anmelden, werden Sie aufgefordert, die Zwei-Faktor-Authentifizierung wieder einzurichten.',
      ],
    },
    'second-factor-disabled/passkeys': {
      subject: 'Zwei-Faktor-Authentifizierung deaktiviert',
      lines: [
        'Für die Anmeldung bei Ihrem Konto ist keiner Ihrer Passkeys mehr als zweiter Schritt nötig. Auch Ihre Backup-Codes wurden gelöscht.',
      ],
    },
    'second-factor-disabled/codes-stay': {
      subject: 'Ihre Passkeys sind nicht mehr der zweite Schritt',
      lines: [
        'Die Anmeldung bei Ihrem Konto erfordert keinen Ihrer Passkeys mehr. Ein Code aus Ihrer Authenticator-App ist weiterhin nötig.',
      ],
    },
    'second-factor-disabled/passkeys-stay': {
      subject: 'Ihre Authenticator-App wurde entfernt',
      lines: [
        'Die Anmeldung bei Ihrem Konto erfordert keinen Code aus Ihrer Authenticator-App mehr. Einer Ihrer Passkeys ist weiterhin nötig.',
      ],
    },
    'recovery-code-used': {
      subject: 'Ein Backup-Code wurde verwendet',
      lines: [
        'Jemand hat einen der Backup-Codes Ihres Kontos statt eines Codes aus Ihrer Authenticator-App oder eines Passkeys verwendet. Dieser Backup-Code kann nicht noch einmal verwendet werden.',
      ],
    },
    'recovery-codes-renewed': {
      subject: 'Sie haben neue Backup-Codes',
      lines: ['Ihr Konto hat neue Backup-Codes. Die bisherigen Codes funktionieren nicht mehr.'],
    },
    'second-factor-attempts': {
      subject: 'Möglicherweise kennt jemand Ihr Passwort',
      lines: [
        'Für Ihr Konto wurde zehnmal hintereinander ein falscher Code eingegeben, nach dem richtigen Passwort oder einem anderen ersten Schritt.',
      ],
      advice: {
        text: 'Wenn Sie das nicht waren, ändern Sie jetzt Ihr Passwort. Die Zwei-Faktor-Authentifizierung hat Ihr Konto geschützt.',
        action: 'Passwort ändern',
      },
    },
    'passkey-added': {
      subject: 'Zu Ihrem Konto wurde ein Passkey hinzugefügt',
      lines: [
        'Zu Ihrem Konto wurde ein Passkey hinzugefügt. Wer ihn hat, kann sich bei Ihrem Konto anmelden.',
      ],
      about: 'Passkey',
    },
    'passkey-removed': {
      subject: 'Ein Passkey wurde aus Ihrem Konto entfernt',
      lines: [
        'Ein Passkey wurde aus Ihrem Konto entfernt. Er kann nicht mehr zur Anmeldung verwendet werden.',
      ],
      about: 'Passkey',
    },
    'passkey-removed/last': {
      subject: 'Ein Passkey wurde aus Ihrem Konto entfernt',
      lines: [
        'Ein Passkey wurde aus Ihrem Konto entfernt. Er kann nicht mehr zur Anmeldung verwendet werden.',
        'Es war Ihr letzter Passkey. Deshalb wird bei der Anmeldung mit Ihrem Passwort keiner mehr verlangt. Wenn Sie keine Authenticator-App haben, wurden auch Ihre Backup-Codes gelöscht.',
      ],
      about: 'Passkey',
    },
    'provider-linked': {
      subject: 'Ihr Konto hat eine neue Anmeldemethode',
      lines: [
        'Ein Konto bei einem anderen Dienst wurde mit Ihrem verknüpft. Wer dieses andere Konto hat, kann sich jetzt hier anmelden.',
      ],
      about: 'Dienst',
    },
    'provider-unlinked': {
      subject: 'Eine Anmeldemethode wurde aus Ihrem Konto entfernt',
      lines: ['Ihr Konto ist nicht mehr mit einem Konto bei einem anderen Dienst verknüpft.'],
      about: 'Dienst',
    },
    'api-key-created': {
      subject: 'Für Ihr Konto wurde ein API-Schlüssel erstellt',
      lines: [
        'Ein API-Schlüssel wurde erstellt. Programme, die ihn haben, können ohne Anmeldung in Ihrem Namen handeln.',
      ],
      about: 'API-Schlüssel',
    },
    'account-deleted': {
      subject: 'Ihr Konto wurde gelöscht',
      lines: ['Ihr Konto wurde gelöscht, mit allem, was dazugehörte.'],
    },
    'account-deleted/pending': {
      subject: 'Ihr Konto wurde gelöscht',
      lines: ({ days, until }) => [
        `Ihr Konto wurde gelöscht. Niemand kann sich bei dem Konto anmelden. In ${plural(days, { one: `${days} Tag`, other: `${days} Tagen` })}, am ${date(until)}, wird es endgültig gelöscht, mit allem, was dazugehört.`,
      ],
      undo: ({ within }) =>
        `Wenn Sie das nicht waren oder es sich anders überlegt haben, stellen Sie das Konto hier wieder her. Dafür haben Sie ${within}:`,
      action: 'Konto wiederherstellen',
    },
    'deleted-account': {
      subject: 'Ihr Konto wurde gelöscht',
      lines: (values) => [
        'Jemand hat mit dieser E-Mail-Adresse ein neues Passwort angefordert oder sich mit ihr registriert.',
        deletion(values),
        'Für dieses Konto kann kein neues Passwort gewählt werden. Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Es wurde nichts geändert.',
      ],
    },
    'account-recovered': {
      subject: 'Eine Änderung Ihres Kontos wurde rückgängig gemacht',
      lines: [
        'Jemand hat mit dem Link in einer früheren E-Mail eine Änderung Ihres Kontos und alle späteren Änderungen rückgängig gemacht. Alle Sitzungen wurden beendet.',
      ],
    },
    'account-recovered/deletion': {
      subject: 'Ihr Konto wurde wiederhergestellt',
      lines: [
        'Jemand hat mit dem Link in einer früheren E-Mail Ihr Konto wiederhergestellt, das gelöscht worden war.',
      ],
    },
    'administrator-acted': {
      subject: 'Ein Administrator hat Ihr Konto geöffnet',
      lines: [
        'Ein Betreiber dieser App hat Ihr Konto geöffnet, um die App aus Ihrer Sicht zu sehen. Ihr Passwort und Ihre anderen Anmeldemethoden können auf diese Weise weder gesehen noch geändert werden.',
      ],
    },
    'administrator-added': {
      subject: 'Sie sind jetzt Administrator',
      lines: [
        'Ihr Konto hat eine Rolle erhalten, die Sie zum Administrator macht. Wenn Sie das nicht erwartet haben, informieren Sie die Betreiber dieser App.',
      ],
    },
    'administrator-added/others': {
      subject: 'Ein Benutzer ist jetzt Administrator',
      lines: [
        'Ein Benutzer hat eine Rolle erhalten, die zum Administrator macht. Wenn Sie das nicht erwartet haben, entziehen Sie dem Benutzer die Rolle und finden Sie heraus, wer sie vergeben hat.',
      ],
      about: 'Benutzer-ID',
    },
    'organization-owner-added': {
      subject: 'Eine Organisation hat einen neuen Inhaber',
      lines: [
        'Ein Mitglied wurde Inhaber einer Organisation, deren Inhaber Sie sind. Inhaber können darin alles tun und sie auch löschen.',
        'Wenn Sie das nicht erwartet haben, fragen Sie die anderen Inhaber oder ändern Sie die Rolle des neuen Inhabers.',
      ],
      about: 'Organisation',
    },
    'organization-owner-added/new-owner': {
      subject: 'Sie sind jetzt Inhaber einer Organisation',
      lines: [
        'Sie wurden Inhaber einer Organisation. Inhaber können darin alles tun und sie auch löschen.',
        'Wenn Sie das nicht erwartet haben, fragen Sie die anderen Inhaber.',
      ],
      about: 'Organisation',
    },
  },
};
