import { type Html, html } from '../../html.js';
import type { PageWords } from '../../words/pages/index.js';
import { pluralsIn } from '../../words/plural.js';

const plural = pluralsIn('de');

/** Returns a number of days after a preposition with the dative. */
function days(count: number): string {
  return plural(count, { one: `${count} Tag`, other: `${count} Tagen` });
}

/** The sentence about a password that the user cannot sign in with yet. */
function unusable(hasPassword: boolean, missing: string): string {
  return hasPassword
    ? `Sie können sich noch nicht mit Ihrem Passwort anmelden. Fügen Sie zuerst in Ihrem Profil ${missing} hinzu.`
    : `Ihr Konto hat kein Passwort. Um eines festzulegen, fügen Sie zuerst in Ihrem Profil ${missing} hinzu.`;
}

/** The error of a request that a page does not send, unless someone has changed it. */
const unexpected = 'Das hat nicht funktioniert. Laden Sie die Seite neu und versuchen Sie es erneut.';

/** What every page says of an emailed code that is used up. */
const codeOver =
  'Dieser Code funktioniert nicht mehr: Er ist abgelaufen, wurde bereits verwendet, oder es wurde zu oft ein falscher Code eingegeben. Lassen Sie sich per E-Mail einen neuen senden.';

/** What it says of the code of an authenticator app. It does not say which it is, because that is a hint for attackers. */
const wrongTotp =
  'Dieser Code ist falsch oder wurde bereits verwendet. Prüfen Sie ihn oder warten Sie auf den nächsten Code.';

/** What it says besides, where a sign-in before the email is confirmed is rejected in the same way. */
const unconfirmed =
  ', oder die E-Mail-Adresse ist noch nicht bestätigt. Wenn Sie sich gerade erst registriert haben, öffnen Sie den Link, den wir Ihnen per E-Mail gesendet haben.';

/** What is said of an empty password where only that of one account proves who it is. */
const ownPassword = 'Geben Sie das Passwort dieses Kontos ein.';

const wrongSlug =
  'Geben Sie 2 bis 63 Kleinbuchstaben, Ziffern und einzelne Bindestriche ein, mit einem Buchstaben oder einer Ziffer am Anfang und am Ende.';

const unknownRole =
  'Wählen Sie eine Rolle aus dieser Liste. Die Liste hat sich möglicherweise geändert, öffnen Sie diese Seite daher erneut.';

/** The words of the pages in German. */
export const pages: PageWords = {
  titleOf: (title, appName) => `${title} – ${appName}`,
  skip: 'Zum Inhalt springen',
  navigation: 'Konto',
  backTo: (appName) => `Zurück zu ${appName}`,
  signedInAs: 'Angemeldet als',
  terms: 'Nutzungsbedingungen',
  privacy: 'Datenschutz',
  support: 'Support',
  optional: 'optional',
  comma: ', ',
  labeled: (label, value: Html | string) => html`${label}: ${value}`,
  sentenceOf: (predicate) => `${predicate.charAt(0).toUpperCase()}${predicate.slice(1)}.`,
  // The verb comes last, in small letters: "Ada entfernen".
  actionOf: (action, about) => `${about} ${action.charAt(0).toLowerCase()}${action.slice(1)}`,
  answerOf: (answer, about) => `${answer}: ${about}`,
  yes: 'Ja',
  no: 'Nein',
  notSet: 'Keine Angabe',
  choose: 'Auswählen …',
  range: {
    between: (minimum, maximum) => `Von ${minimum} bis ${maximum}.`,
    from: (minimum) => `Mindestens ${minimum}.`,
    to: (maximum) => `Höchstens ${maximum}.`,
  },
  deviceOn: (browser, system) => `${browser} auf ${system}`,
  browserOn: (system) => `Ein Browser auf ${system}`,
  inUtc: (label) => `${label} (UTC)`,
  lastUsed: 'zuletzt verwendet',
  continue: 'Weiter',
  sendAgain: 'E-Mail erneut senden',
  sentAgain: (email: Html, isCertain) =>
    html`${isCertain ? html`Eine weitere E-Mail ist an ${email} unterwegs` : html`Falls es für ${email} ein Konto gibt, ist eine weitere E-Mail unterwegs`}. Wenn keine ankommt, verwenden Sie die neueste, die Sie haben.`,
  pressAgain: 'Es ist noch nichts passiert. Drücken Sie die Schaltfläche noch einmal.',
  confirmed: (button: Html) => html`Sie haben Ihre Identität bestätigt. Fahren Sie mit „${button}“ fort.`,
  or: 'oder',
  close: 'Schließen',
  cancel: 'Abbrechen',
  ofClose: (action) => `: ${action}`,

  fields: {
    email: 'E-Mail-Adresse',
    username: 'Benutzername',
    either: 'E-Mail-Adresse oder Benutzername',
    password: 'Passwort',
    currentPassword: 'Aktuelles Passwort',
    newPassword: 'Neues Passwort',
    newEmail: 'Neue E-Mail-Adresse',
    remember: 'Auf diesem Gerät angemeldet bleiben',
    code: 'Code',
    recoveryCode: 'Backup-Code',
    name: 'Name',
    language: 'Sprache',
    anyLanguage: 'Sprache des Browsers',
    languageHint: 'Die Sprache dieser Seiten und unserer E-Mails.',
  },
  confirmation: {
    label: (text) => `Zur Bestätigung eingeben: ${text}`,
    word: 'löschen',
  },
  human: {
    noScript: 'Dieser Browser kann nicht überprüft werden, weil er keine Skripte ausführt.',
    otherWays: (ways) => `Sie können sich weiterhin mit ${ways} anmelden.`,
    turnOn: 'Aktivieren Sie JavaScript und laden Sie diese Seite dann neu.',
    password: 'Ihrem Passwort',
    email: 'einem Code per E-Mail',
    list: (ways) => new Intl.ListFormat('de', { type: 'disjunction' }).format(ways),
  },
  copy: 'Kopieren',
  copied: 'Kopiert',
  passwordHint: (length) => `Mindestens ${length} Zeichen. Ein paar zufällige Wörter sind eine gute Wahl.`,

  usernameHint: '3 bis 30 Zeichen: Buchstaben von a bis z, Ziffern, Unterstriche, Punkte und Bindestriche.',
  passwordAgain: 'Geben Sie das Passwort noch einmal ein.',

  scripts: {
    failed:
      'Das Formular konnte nicht gesendet werden. Prüfen Sie die Netzwerkverbindung und versuchen Sie es erneut.',
    broken: 'Etwas ist schiefgelaufen. Versuchen Sie es gleich noch einmal.',
    unsaved: 'Noch nicht gespeichert.',
    show: 'Anzeigen',
    hide: 'Ausblenden',
    showOf: '{field} anzeigen',
    hideOf: '{field} ausblenden',
    passkeys: {
      failed: 'Der Passkey konnte nicht verwendet werden. Versuchen Sie es erneut.',
      offline: 'Das hat nicht funktioniert. Prüfen Sie die Netzwerkverbindung und versuchen Sie es erneut.',
      NotAllowedError:
        'Es wurde kein Passkey verwendet. Die Anfrage wurde abgebrochen, sie hat zu lange gedauert oder dieses Gerät hat keinen Passkey für diese Website.',
      InvalidStateError: 'Dieses Gerät hat bereits einen Passkey für Ihr Konto.',
      NotSupportedError:
        'Dieses Gerät kann keine Passkeys verwenden. Versuchen Sie es mit einem Smartphone oder einem Passwortmanager.',
      SecurityError: 'Passkeys funktionieren unter dieser Adresse nicht.',
      'sign-in': {
        invalid_passkey:
          'Dieser Passkey gehört hier nicht mehr zu einem Konto, oder es ist zu viel Zeit vergangen. Versuchen Sie es erneut oder melden Sie sich auf andere Weise an.',
      },
      create: {
        NotAllowedError:
          'Es wurde kein Passkey hinzugefügt. Die Anfrage wurde abgebrochen oder hat zu lange gedauert.',
      },
    },
  },

  names: {
    account: 'Profil',
    'account/security': 'Sicherheit',
    'account/sessions': 'Sitzungen',
    'account/api-keys': 'API-Schlüssel',
    'account/organizations': 'Organisationen',
    'administration/users': 'Benutzer',
  },

  signIn: {
    title: 'Anmelden',
    titleOf: (appName) => `Bei ${appName} anmelden`,
    submit: 'Anmelden',
    already: 'Sie sind bereits angemeldet',
    byEmail: 'Code per E-Mail senden',
    byEmailHint: 'Wir senden Ihnen per E-Mail einen Code für die Anmeldung. Sie brauchen kein Passwort.',
    byPasskey: 'Mit Passkey anmelden',
    continueWith: (provider) => `Weiter mit ${provider}`,
    forgotten: 'Passwort vergessen?',
    restorable: (date: Html) =>
      html`Ihr Konto wurde gelöscht. Bis zum ${date} kann es mit dem Link in unserer E-Mail wiederhergestellt werden.`,
    noAccount: 'Noch kein Konto?',
    signUp: 'Konto erstellen',
  },
  signUp: {
    title: 'Konto erstellen',
    submit: 'Konto erstellen',
    byEmail: 'Stattdessen Code per E-Mail senden',
    byEmailHint: 'Mit einem Code brauchen Sie kein Passwort.',
    byEmailAlone: 'Code per E-Mail senden',
    either: (resets) =>
      `Geben Sie eine E-Mail-Adresse, einen Benutzernamen oder beides ein.${resets ? ' Ohne E-Mail-Adresse können Sie ein vergessenes Passwort nicht zurücksetzen.' : ''}`,
    haveAccount: 'Schon ein Konto?',
    closed: 'Sie können sich hier nicht registrieren. Bitten Sie die Betreiber dieser App um ein Konto.',
    closedAsk: 'Sie können sich hier nicht registrieren. Ein Konto erhalten Sie auf Anfrage:',
    checkMail: 'Prüfen Sie Ihre E-Mails',
    checkMailText: (address: Html | string) =>
      html`Wir haben eine E-Mail an ${address} gesendet. Wenn es dafür noch kein Konto gibt, öffnen Sie den Link in der E-Mail und melden Sie sich dann an. Wenn es ein Konto gibt, steht in der E-Mail, was zu tun ist. Sehen Sie auch im Spam-Ordner nach.`,
    confirmText: (address: Html | string) =>
      html`Wir haben einen Link an ${address} gesendet. Öffnen Sie ihn und melden Sie sich dann an. Sehen Sie auch im Spam-Ordner nach.`,
  },
  signOut: {
    title: 'Abmelden',
    question: (account) =>
      account === null ? 'Möchten Sie sich abmelden?' : `Sie sind als ${account} angemeldet.`,
    submit: 'Abmelden',
    stay: 'Angemeldet bleiben',
  },
  passkeyOffer: {
    title: 'Nächstes Mal ohne Passwort anmelden',
    text: 'Erstellen Sie einen Passkey. Dann brauchen Sie zum Anmelden nur noch die Bildschirmsperre dieses Geräts.',
    create: 'Passkey erstellen',
    later: 'Nicht jetzt',
  },
  secondFactor: {
    title: 'Identität bestätigen',
    account: (account) => `Sie melden sich als ${account} an.`,
    totp: 'Geben Sie den Code ein, den Ihre Authenticator-App anzeigt.',
    emailCode: (email: Html, digits) =>
      html`Wir haben einen ${digits}-stelligen Code an ${email} gesendet, weil dieser Browser für Ihr Konto neu ist. Sehen Sie auch im Spam-Ordner nach.`,
    verifyCode: (email: Html, digits) =>
      html`Wir haben einen ${digits}-stelligen Code an ${email} gesendet. Geben Sie ihn ein, um zu bestätigen, dass die E-Mail-Adresse Ihnen gehört. Sehen Sie auch im Spam-Ordner nach.`,
    passkey: (wasPassword) =>
      wasPassword
        ? 'Ihr Passwort war richtig. Verwenden Sie jetzt Ihren Passkey.'
        : 'Noch ein Schritt: Verwenden Sie Ihren Passkey.',
    recoveryHint:
      'Einer der Codes, die Sie beim Aktivieren der Zwei-Faktor-Authentifizierung gespeichert haben. Jeder Code funktioniert einmal.',
    submit: 'Weiter',
    trust: (count) =>
      `In diesem Browser ${plural(count, { one: `${count} Tag`, other: `${count} Tage` })} lang nicht mehr fragen`,
    useRecovery: 'Backup-Code verwenden',
    submitRecovery: 'Diesen Backup-Code verwenden',
    usePasskey: 'Passkey verwenden',
    wrongAddress: {
      question: 'Falsche E-Mail-Adresse?',
      signUpAgain: 'Mit der richtigen neu registrieren',
      orSupport: (link: Html) => html` oder den Support kontaktieren: ${link}`,
      support: (link: Html) => html`Support kontaktieren: ${link}`,
    },
    lost: (support, appName) =>
      support === null
        ? `Wenn Sie Ihr Smartphone und Ihre Backup-Codes verloren haben, bitten Sie die Betreiber von ${appName} um Hilfe.`
        : html`Wenn Sie Ihr Smartphone und Ihre Backup-Codes verloren haben, bitten Sie um Hilfe: ${support}`,
    expires: 'Sie haben 10 Minuten Zeit. Melden Sie sich danach erneut an.',
    expired:
      'Es gibt keine Anmeldung zu bestätigen. Möglicherweise ist sie abgelaufen. Melden Sie sich erneut an.',
    cancel: 'Mit anderem Konto anmelden',
  },
  reauthenticate: {
    title: 'Identität bestätigen',
    lead: 'Bestätigen Sie zu Ihrer Sicherheit Ihre Identität, bevor Sie fortfahren.',
    leadTo: (what) => `Um ${what}, bestätigen Sie Ihre Identität.`,
    actions: {
      'account/profile': 'Ihr Profil zu speichern',
      'account/username': 'Ihren Benutzernamen zu ändern',
      'account/email': 'Ihre E-Mail-Adresse zu ändern',
      'account/download': 'Ihre Daten herunterzuladen',
      'account/delete': 'Ihr Konto zu löschen',
      'account/api-keys/create': 'einen API-Schlüssel zu erstellen',
      'account/organizations/organization/set-role': 'die Rolle dieses Mitglieds zu ändern',
      'account/organizations/organization/remove': 'dieses Mitglied zu entfernen',
      'account/organizations/organization/invite': 'jemanden einzuladen',
      'account/organizations/organization/delete': 'diese Organisation zu löschen',
      'account/security/change-password': 'Ihr Passwort zu ändern',
      'account/security/set-password': 'ein Passwort festzulegen',
      'account/security/remove-password': 'Ihr Passwort zu entfernen',
      'account/security/set-up-app': 'eine Authenticator-App einzurichten',
      'account/security/disable-app': 'die Authenticator-App zu entfernen',
      'account/security/renew-codes': 'neue Backup-Codes zu erhalten',
      'account/security/use-passkeys': 'Ihren zweiten Schritt zu ändern',
      'account/security/remove-passkey': 'diesen Passkey zu entfernen',
      'account/security/unlink': 'die Verknüpfung mit diesem Konto zu trennen',
      'account/security/forget-browser': 'diesen Browser zu entfernen',
      'account/security/start-over': 'mit einer anderen E-Mail-Adresse neu zu beginnen',
      'account/security/second-factor/confirm-app': 'die Zwei-Faktor-Authentifizierung zu aktivieren',
      'administration/users/create': 'einen Benutzer zu erstellen',
      'administration/users/user/edit': 'diesen Benutzer zu ändern',
      'administration/users/user/delete': 'diesen Benutzer zu löschen',
      'administration/users/user/roles': 'die Rollen dieses Benutzers zu ändern',
      'administration/users/user/suspend': 'diesen Benutzer zu sperren',
      'administration/users/user/reinstate': 'die Sperre aufzuheben',
    },
    emailCode: (email: Html) => html`Wir senden einen Code an ${email}.`,
    send: 'Code per E-Mail senden',
    sendAgain: 'Neuen Code per E-Mail senden',
    sent: (email: Html, digits, time) =>
      html`Wir haben einen ${digits}-stelligen Code an ${email} gesendet. Er ist ${time} gültig. Sehen Sie auch im Spam-Ordner nach.`,
    none: 'Auf dieser Seite können Sie Ihre Identität nicht bestätigen. Melden Sie sich ab und dann wieder an.',
    submit: 'Bestätigen',
    cancel: 'Abbrechen',
  },
  forgotPassword: {
    title: 'Passwort zurücksetzen',
    lead: 'Geben Sie die E-Mail-Adresse Ihres Kontos ein. Wir senden Ihnen per E-Mail einen Link, mit dem Sie ein neues Passwort wählen können.',
    submit: 'Link per E-Mail senden',
    codeLead:
      'Geben Sie die E-Mail-Adresse Ihres Kontos ein. Wir senden Ihnen per E-Mail einen Code, mit dem Sie ein neues Passwort wählen können.',
    codeSubmit: 'Code per E-Mail senden',
    sent: 'Prüfen Sie Ihre E-Mails',
    sentText: (address: Html | string) =>
      html`Falls es für ${address} ein Konto gibt, ist eine E-Mail mit einem Link unterwegs. Der Link läuft nach einer Stunde ab. Sehen Sie auch im Spam-Ordner nach.`,
    anyAddress: 'diese Adresse',
    again: 'Neuen Link per E-Mail senden',
    back: 'Zurück zur Anmeldung',
  },
  resetPassword: {
    title: 'Neues Passwort wählen',
    invitationTitle: 'Einladung annehmen',
    lead: (account: Html) => html`Wählen Sie ein Passwort für ${account}.`,
    ends: 'Ein neues Passwort beendet alle Sitzungen des Kontos.',
    submit: 'Passwort speichern',
    invitationSubmit: 'Passwort erstellen',
    invalid: 'Dieser Link ist nicht mehr gültig',
    invalidText:
      'Er wurde bereits verwendet oder ist abgelaufen. Wenn Sie schon ein neues Passwort gewählt haben, melden Sie sich damit an.',
    invitationInvalidText:
      'Er wurde bereits verwendet oder ist abgelaufen. Wenn Sie Ihr Passwort schon erstellt haben, melden Sie sich damit an. Bitten Sie andernfalls die Personen, die Sie eingeladen haben, um einen neuen Link.',
    again: 'Neuen Link per E-Mail senden',
    codeLead:
      'Wir haben Ihnen per E-Mail einen Code gesendet, falls es für Ihre E-Mail-Adresse ein Konto gibt. Geben Sie ihn hier ein.',
    codeSentTo: (email: Html, digits, time) =>
      html`Falls es für ${email} ein Konto gibt, haben wir einen ${digits}-stelligen Code dorthin gesendet. Er ist ${time} gültig. Sehen Sie auch im Spam-Ordner nach.`,
    codeAgain: 'Neuen Code per E-Mail senden',
    codeOther: 'Andere E-Mail-Adresse verwenden',
    codeFirst: 'Fordern Sie zuerst einen Code an',
    codeFirstText:
      'Geben Sie die E-Mail-Adresse Ihres Kontos ein. Wir senden Ihnen dann per E-Mail einen Code, mit dem Sie ein neues Passwort wählen können.',
  },
  join: {
    title: (organization) => `${organization} beitreten`,
    lead: (organization) => `Sie sind eingeladen, ${organization} beizutreten.`,
    leadBy: (inviter: Html, organization) => html`${inviter} lädt Sie ein, ${organization} beizutreten.`,
    email: 'Eingeladene E-Mail-Adresse',
    role: 'Ihre Rolle',
    expires: 'Gültig bis',
    submit: (organization) => `${organization} beitreten`,
    task: 'Es fehlt noch ein Schritt, bevor Sie beitreten können.',
    otherEmail: (email: Html, account) =>
      account === null
        ? html`Die Einladung ist für ${email}. Das ist nicht die E-Mail-Adresse Ihres Kontos. Melden Sie sich ab und fahren Sie dann mit der eingeladenen E-Mail-Adresse fort.`
        : html`Die Einladung ist für ${email}, aber Sie sind als ${account} angemeldet. Melden Sie sich ab und fahren Sie dann mit der eingeladenen E-Mail-Adresse fort.`,
    signOut: 'Abmelden und fortfahren',
    signIn: (email: Html) =>
      html`Für ${email} gibt es ein Konto. Melden Sie sich damit an. Danach kommen Sie hierher zurück, um beizutreten.`,
    signInFirst: (email: Html) =>
      html`Für ${email} gibt es noch kein Konto. Fahren Sie fort, um eines zu erstellen. Danach kommen Sie hierher zurück, um beizutreten.`,
    createAccount: (email: Html) =>
      html`Für ${email} gibt es noch kein Konto. Erstellen Sie eines, um beizutreten.`,
    submitSignUp: (organization) => `Konto erstellen und ${organization} beitreten`,
    otherWay: 'Ohne Passwort beitreten',
    afterwards: (organization) => `Danach können Sie ${organization} beitreten.`,
    joined: (organization) => `Sie sind jetzt Mitglied von ${organization}.`,
    already: (organization) => `Sie sind bereits Mitglied von ${organization}`,
    open: (organization) => `Weiter zu ${organization}`,
    signUpFirst: (email: Html) =>
      html`Für ${email} gibt es noch kein Konto. Erstellen Sie eines mit dieser E-Mail-Adresse und öffnen Sie dann den Link in der Einladung noch einmal.`,
    closed: (email: Html) =>
      html`Für ${email} gibt es noch kein Konto, und Sie können hier keines erstellen. Bitten Sie die Betreiber dieser App um ein Konto und öffnen Sie dann den Link in der E-Mail noch einmal.`,
    closedAsk: (email: Html) =>
      html`Für ${email} gibt es noch kein Konto, und Sie können hier keines erstellen. Um eines zu erhalten, bitten Sie um Hilfe:`,
    nothing: 'Wenn Sie nicht beitreten möchten, brauchen Sie nichts zu tun.',
    invalid: 'Diese Einladung ist nicht mehr gültig',
    invalidText:
      'Sie wurde bereits verwendet, durch eine neuere E-Mail ersetzt, widerrufen oder ist abgelaufen. Öffnen Sie den Link in der neuesten E-Mail oder bitten Sie die Person, die Sie eingeladen hat, um eine neue.',
    withoutLink: 'Öffnen Sie den Link in der E-Mail',
    withoutLinkText:
      'Um einer Organisation beizutreten, öffnen Sie den Link in der E-Mail, mit der Sie eingeladen wurden.',
    organizations: 'Ihre Organisationen',
  },
  verifyEmail: {
    title: 'E-Mail-Adresse bestätigen',
    lead: (account) => `Bestätigen Sie, dass ${account} Ihre E-Mail-Adresse ist.`,
    password: 'Geben Sie das Passwort dieses Kontos ein, um zu zeigen, dass es Ihnen gehört.',
    submit: 'Bestätigen',
    invalid: 'Dieser Link ist nicht mehr gültig',
    invalidText:
      'Er wurde bereits verwendet oder ist abgelaufen. Wenn Sie Ihre E-Mail-Adresse schon bestätigt haben, melden Sie sich einfach an.',
    invalidHere: 'Er wurde bereits verwendet oder ist abgelaufen. Sie können einen neuen erhalten.',
    waiting: 'Bestätigen Sie zuerst Ihre E-Mail-Adresse',
    waitingText: (address: Html | string) =>
      html`Öffnen Sie den Link, den wir an ${address} gesendet haben, und melden Sie sich dann an. Sehen Sie auch im Spam-Ordner nach.`,
    waitingAgain: 'Um einen neuen Link zu erhalten, melden Sie sich erneut an.',
    perhapsSent:
      'Wenn wir Ihnen per E-Mail einen Link gesendet haben, öffnen Sie ihn und melden Sie sich dann an. Um einen neuen Link zu erhalten, melden Sie sich an.',
    waitingHere: (address: Html | string) =>
      html`Öffnen Sie den Link, den wir an ${address} gesendet haben. Sehen Sie auch im Spam-Ordner nach.`,
    anyAddress: 'Ihre E-Mail-Adresse',
    done: 'Ihre E-Mail-Adresse ist bestätigt',
    doneFor: (email) => `${email} ist bestätigt.`,
    doneText: (account) => `Sie sind als ${account} angemeldet.`,
    send: 'Neuen Link per E-Mail senden',
    codeFirst: (email: Html | string) =>
      html`Wir senden einen Code an ${email}. Geben Sie ihn hier ein, um zu bestätigen, dass die E-Mail-Adresse Ihnen gehört.`,
    codeSentTo: (email: Html | string, digits, time) =>
      html`Wir haben einen ${digits}-stelligen Code an ${email} gesendet. Er ist ${time} gültig. Sehen Sie auch im Spam-Ordner nach.`,
    codeSignUp: (email: Html | string, digits, time) =>
      html`Falls es für ${email} noch kein Konto gibt, haben wir einen ${digits}-stelligen Code dorthin gesendet. Er ist ${time} gültig. Sehen Sie auch im Spam-Ordner nach.`,
    codeSend: 'Code per E-Mail senden',
    codeSendNew: 'Neuen Code per E-Mail senden',
    codeSignIn:
      'Melden Sie sich an. Wir senden Ihnen dann per E-Mail einen Code, mit dem Sie Ihre E-Mail-Adresse bestätigen können.',
    later: 'Nicht jetzt',
  },
  changeEmail: {
    title: 'Neue E-Mail-Adresse bestätigen',
    lead: (email) => `Verwenden Sie ${email} als E-Mail-Adresse Ihres Kontos.`,
    account: (account) => `Ihre aktuelle E-Mail-Adresse ist ${account}.`,
    elsewhere: 'Öffnen Sie diesen Link dort, wo Sie angemeldet sind',
    elsewhereText:
      'Kopieren Sie den Link dieser Seite und öffnen Sie ihn in dem Browser, in dem Sie bei dem Konto angemeldet sind. Dort ist kein Passwort nötig.',
    password: 'Oder geben Sie hier das Passwort des Kontos ein, falls es eines hat.',
    submit: 'Diese Adresse verwenden',
    invalid: 'Dieser Link ist nicht mehr gültig',
    invalidText:
      'Er wurde bereits verwendet, er ist abgelaufen, die Änderung wurde abgebrochen oder Ihr Konto hat sich seitdem geändert. Vielleicht hat eine neuere E-Mail ihn ersetzt: Öffnen Sie dann den Link in der neuesten. Wenn Sie Ihre neue E-Mail-Adresse schon bestätigt haben, melden Sie sich einfach damit an.',
    invalidHere: (email) =>
      `Er wurde bereits verwendet, er ist abgelaufen, die Änderung wurde abgebrochen oder Ihr Konto hat sich seitdem geändert. Vielleicht hat eine neuere E-Mail ihn ersetzt: Öffnen Sie dann den Link in der neuesten. Die E-Mail-Adresse Ihres Kontos ist ${email}.`,
    signsOut: 'Sie werden überall abgemeldet.',
    signsOutOthers: 'Sie werden auf allen anderen Geräten abgemeldet.',
    done: 'Ihre E-Mail-Adresse wurde geändert',
    doneText: (email) => `Ihre E-Mail-Adresse ist jetzt ${email}.`,
    doneElsewhere: 'Ihre Sitzungen wurden beendet. Melden Sie sich mit der neuen E-Mail-Adresse an.',
  },
  undoChange: {
    title: 'Änderung rückgängig machen',
    what: (change) => `${change}.`,
    emailChanged: (from, to) => `Die E-Mail-Adresse wurde von ${from} in ${to} geändert.`,
    account: 'Konto',
    when: 'Zeitpunkt',
    device: 'Gerät',
    unknownDevice: 'Ein unbekanntes Gerät',
    lead: 'Wenn Sie das nicht waren, machen Sie es rückgängig. Dadurch werden auch alle späteren Änderungen des Kontos rückgängig gemacht und alle Sitzungen beendet.',
    removes: 'Ihr Passwort wird entfernt, und Sie wählen per E-Mail ein neues.',
    done: 'Die Änderung wurde rückgängig gemacht',
    choose: (email: Html) =>
      html`Wählen Sie ein neues Passwort mit dem Link, den wir an ${email} gesendet haben. Sehen Sie auch im Spam-Ordner nach.`,
    ended: 'Alle Sitzungen wurden beendet.',
    password: 'Ihr Passwort vor der Änderung',
    passwordHint: '',
    code: 'Code aus Ihrer Authenticator-App oder ein Backup-Code',
    codeHint: 'Verwenden Sie die App oder die Backup-Codes, die Sie vor der Änderung hatten.',
    submit: 'Änderung rückgängig machen',
    withPasskey: 'Mit Passkey rückgängig machen',
    nothing: 'Wenn Sie es waren, brauchen Sie nichts zu tun.',
    otherBrowser: 'Öffnen Sie diesen Link in einem Browser, den Ihr Konto kennt',
    otherBrowserText:
      'Der Link funktioniert nur in einem Browser, den Sie schon eine Weile verwendet hatten. Kopieren Sie den Link dieser Seite und öffnen Sie ihn dort.',
    tooNew: (since: Html) =>
      html`Dieser Browser war zu neu, als die Änderung vorgenommen wurde: Ihr Konto kennt ihn erst seit dem ${since}.`,
    worksIn: 'Der Link funktioniert in:',
    knownSince: (browser, since: Html) => html`${browser}, bekannt seit dem ${since}`,
    copyAddress: 'Link kopieren',
    help: (support) =>
      support === null
        ? 'Wenn Sie keinen solchen Browser haben, bitten Sie die Betreiber dieser App um Hilfe.'
        : html`Wenn Sie keinen solchen Browser haben, bitten Sie um Hilfe: ${support}`,
    noBrowser: 'Dieser Link funktioniert in keinem Browser',
    noBrowserText:
      'Als die Änderung vorgenommen wurde, war das Konto noch in keinem Browser lange genug verwendet worden. Deshalb kann nur der Support sie rückgängig machen.',
    helpWithout: (support) =>
      support === null
        ? 'Bitten Sie die Betreiber dieser App um Hilfe.'
        : html`Bitten Sie um Hilfe: ${support}`,
    changePassword: 'Passwort ändern',
    invalid: 'Dieser Link ist nicht mehr gültig',
    invalidText:
      'Er wurde bereits verwendet, er ist abgelaufen oder die Änderung wurde bereits rückgängig gemacht.',
    invalidHelp: (support) =>
      support === null
        ? 'Wenn Sie die Änderung nicht vorgenommen haben, bitten Sie die Betreiber dieser App um Hilfe.'
        : html`Wenn Sie die Änderung nicht vorgenommen haben, bitten Sie um Hilfe: ${support}`,
    deletion: {
      title: 'Konto wiederherstellen',
      done: 'Ihr Konto wurde wiederhergestellt',
      lead: 'Sie können das Konto so wiederherstellen, wie es vor dem Löschen war.',
      password: 'Ihr Passwort',
      passwordHint: 'Es zeigt, dass das Konto Ihnen gehört.',
      codeHint: '',
      submit: 'Konto wiederherstellen',
      withPasskey: 'Mit Passkey wiederherstellen',
      nothing: 'Wenn das Konto gelöscht bleiben soll, brauchen Sie nichts zu tun.',
    },
  },
  emailedSignIn: {
    title: 'Code eingeben',
    lead: 'Wir haben Ihnen per E-Mail einen Code gesendet. Geben Sie ihn hier ein, in dem Browser, in dem Sie ihn angefordert haben.',
    notAsked:
      'Um sich mit einem Code anzumelden, fordern Sie in diesem Browser einen an. Geben Sie ihn dann hier ein.',
    sentTo: (email: Html, digits, time, isCertain) =>
      isCertain
        ? html`Wir haben einen ${digits}-stelligen Code an ${email} gesendet. Er ist ${time} gültig. Sehen Sie auch im Spam-Ordner nach.`
        : html`Falls es für ${email} ein Konto gibt, ist eine E-Mail mit einem ${digits}-stelligen Code unterwegs. Er ist ${time} gültig. Sehen Sie auch im Spam-Ordner nach.`,
    submit: 'Anmelden',
    linkTitle: 'Anmelden',
    linkLead: (email) => `Fahren Sie fort, um sich als ${email} anzumelden.`,
    linkSubmit: 'Anmelden',
    usedTitle: 'Dieser Link ist nicht mehr gültig',
    used: 'Er wurde bereits verwendet oder ist abgelaufen.',
    usedHere: (account) =>
      `Er wurde bereits verwendet oder ist abgelaufen. Sie sind als ${account} angemeldet.`,
    elsewhereTitle: 'Sie haben diese E-Mail in einem anderen Browser angefordert',
    elsewhere:
      'Kehren Sie zum anderen Browser zurück und geben Sie dort den Code aus der E-Mail ein. Manche Apps öffnen Links in einem eigenen Browser.',
    here: (email: Html) => html`Oder melden Sie sich hier an: Wir senden einen neuen Code an ${email}.`,
    hereSubmit: 'Stattdessen hier anmelden',
    notYou: 'Wenn Sie diese E-Mail nicht angefordert haben, können Sie sie ignorieren.',
    createTitle: 'Konto erstellen',
    fields: (email: Html | string) =>
      html`Für ${email} gibt es noch kein Konto. Ergänzen Sie diese Angaben, um eines zu erstellen.`,
    thisEmail: 'diese E-Mail-Adresse',
    lostFields: (labels) =>
      `Von der Registrierung nicht übernommen: ${labels.join(', ')}. Wenn Sie ein Konto erstellen, geben Sie dies später in Ihrem Profil ein.`,
    again: 'Neuen Code per E-Mail senden',
    other: 'Andere E-Mail-Adresse verwenden',
  },

  security: {
    title: 'Sicherheit',
    change: 'Ändern',
    show: 'Anzeigen',
    manage: 'Verwalten',
    confirmEmail: {
      title: 'E-Mail-Adresse bestätigen',
      text: (email) =>
        `Bestätigen Sie, dass ${email} Ihre E-Mail-Adresse ist. Danach können Sie die Zwei-Faktor-Authentifizierung aktivieren und Passkeys hinzufügen.`,
      first: 'Bestätigen Sie zuerst Ihre E-Mail-Adresse.',
      wrong: 'Ist die E-Mail-Adresse falsch?',
      change: 'Ändern Sie sie in Ihrem Profil.',
      wrongAddress:
        'Ist die E-Mail-Adresse falsch? Melden Sie sich ab und registrieren Sie sich dann mit der richtigen neu.',
      startOver: 'Abmelden und neu registrieren',
    },
    methods: {
      title: 'Anmeldemethoden',
      passkeys: (count) => plural(count, { one: `${count} Passkey`, other: `${count} Passkeys` }),
      email: 'Code per E-Mail',
      none: 'Sie haben noch keine Anmeldemethoden.',
    },
    taskTitle: 'Noch ein Schritt',
    taskText: 'Schließen Sie diesen Schritt ab, bevor Sie fortfahren.',
    password: {
      change: 'Passwort ändern',
      set: 'Passwort festlegen',
      isSet: 'Sie haben ein Passwort.',
      none: 'Ihr Konto hat kein Passwort.',
      use: {
        email:
          'Wenn Sie eines festlegen, können Sie sich auch mit Ihrer E-Mail-Adresse und diesem Passwort anmelden.',
        username:
          'Wenn Sie eines festlegen, können Sie sich auch mit Ihrem Benutzernamen und diesem Passwort anmelden.',
        either:
          'Wenn Sie eines festlegen, können Sie sich auch mit Ihrer E-Mail-Adresse oder Ihrem Benutzernamen und diesem Passwort anmelden.',
      },
      missing: {
        email: (hasPassword) => unusable(hasPassword, 'eine E-Mail-Adresse'),
        username: (hasPassword) => unusable(hasPassword, 'einen Benutzernamen'),
        either: (hasPassword) => unusable(hasPassword, 'eine E-Mail-Adresse oder einen Benutzernamen'),
      },
      add: {
        email: 'E-Mail-Adresse hinzufügen',
        username: 'Benutzernamen hinzufügen',
        either: 'E-Mail-Adresse oder Benutzernamen hinzufügen',
      },
      remove: 'Passwort entfernen',
      removeText: 'Danach melden Sie sich mit Ihren anderen Anmeldemethoden an.',
      confirmRemove: 'Ja, Passwort entfernen',
      ends: 'Ihre anderen Sitzungen werden beendet, wenn Sie das Passwort ändern.',
      demanded:
        'Wählen Sie ein neues Passwort, um fortzufahren. Geben Sie Ihr aktuelles ein letztes Mal ein.',
    },
    secondFactor: {
      title: 'Zwei-Faktor-Authentifizierung',
      off: 'Wenn Sie sie aktivieren, reicht ein gestohlenes Passwort nicht für die Anmeldung aus.',
      demanded:
        'Richten Sie eine Authenticator-App ein oder fügen Sie einen Passkey hinzu. Eines davon genügt.',
      on: (totp, passkeys) =>
        totp && passkeys
          ? 'Zum Anmelden brauchen Sie einen Code aus Ihrer Authenticator-App oder einen Passkey.'
          : totp
            ? 'Zum Anmelden brauchen Sie einen Code aus Ihrer Authenticator-App.'
            : 'Zum Anmelden brauchen Sie einen Passkey.',
      codesLeft: (count) =>
        count === 0
          ? 'Sie haben keine Backup-Codes mehr. Erstellen Sie neue.'
          : `Sie haben noch ${plural(count, { one: `${count} Backup-Code`, other: `${count} Backup-Codes` })}.`,
      begin: 'Authenticator-App einrichten',
      replace: 'Andere Authenticator-App einrichten',
      again: 'Mit neuem QR-Code neu beginnen',
      setUp: 'Authenticator-App einrichten',
      scanTitle: 'Dieses Konto zur App hinzufügen',
      enterTitle: 'Code eingeben',
      codesNext:
        'Die nächste Seite zeigt sie an, sobald Sie die Zwei-Faktor-Authentifizierung aktiviert haben.',
      cancel: 'Abbrechen',
      scan: 'Scannen Sie diesen Code mit Ihrer Authenticator-App, zum Beispiel Google Authenticator, Microsoft Authenticator oder 1Password.',
      codeLabel: 'Code aus der App',
      qr: 'QR-Code für Ihre Authenticator-App',
      open: 'Authenticator-App auf diesem Gerät öffnen',
      manual: 'Oder geben Sie diesen Schlüssel in der App ein:',
      confirm: 'Aktivieren',
      codeHint: 'Die 6 Ziffern, die die App anzeigt. Sie haben 10 Minuten Zeit.',
      replaced:
        'Diese Einrichtung wurde in einem anderen Tab neu begonnen. Scannen Sie den neuen QR-Code und geben Sie den Code dazu ein.',
      renew: 'Neue Backup-Codes erstellen',
      renewText: 'Ihre aktuellen Backup-Codes funktionieren dann nicht mehr.',
      confirmRenew: 'Ja, neue erstellen',
      disable: 'Authenticator-App entfernen',
      disableText:
        'Danach brauchen Sie zum Anmelden keine Codes aus der App mehr. Ihre anderen Sitzungen werden beendet.',
      disableLastText:
        'Dadurch wird die Zwei-Faktor-Authentifizierung deaktiviert, und Ihre Backup-Codes werden gelöscht. Ihre anderen Sitzungen werden beendet.',
      confirmDisable: 'Ja, entfernen',
      passkeysOn: 'Meine Passkeys als zweiten Schritt verwenden',
      passkeysOff: 'Passkeys nicht mehr als zweiten Schritt verwenden',
      trusted: (count) =>
        `In ${plural(count, { one: `${count} Browser`, other: `${count} Browsern` })} melden Sie sich nur mit dem Passwort an.`,
      askAgain: 'In jedem Browser wieder fragen',
      codes: 'Backup-Codes speichern',
      codesText:
        'Wenn Sie Ihr Smartphone oder Ihre Passkeys verlieren, melden Sie sich mit einem dieser Codes an. Jeder Code funktioniert einmal.',
      codesOnce: 'Sie werden nur jetzt angezeigt. Speichern Sie sie daher woanders als auf Ihrem Smartphone.',
      fileName: 'backup-codes.txt',
      fileHeading: (appName, account) =>
        `Backup-Codes für ${appName}${account === null ? '' : ` (${account})`}`,
      download: 'Herunterladen',
      print: 'Drucken',
      saved: 'Ich habe sie gespeichert',
    },
    passkeys: {
      title: 'Passkeys',
      text: 'Mit einem Passkey melden Sie sich über die Bildschirmsperre Ihres Geräts statt mit einem Passwort an.',
      count: (count) => plural(count, { one: `${count} Passkey.`, other: `${count} Passkeys.` }),
      add: 'Passkey hinzufügen',
      change: 'Ändern',
      rename: 'Umbenennen',
      remove: 'Entfernen',
      removeText: 'Danach können Sie sich mit diesem Passkey nicht mehr anmelden.',
      confirmRemove: 'Ja, entfernen',
      synced: 'synchronisiert',
      added: (time: Html) => html`Hinzugefügt am ${time}.`,
      used: (time: Html) => html`Zuletzt verwendet am ${time}.`,
      neverUsed: 'Noch nicht verwendet.',
      needsScript: 'Passkeys erfordern JavaScript und einen Browser, der sie unterstützt.',
    },
    linked: {
      title: 'Verknüpfte Konten',
      none: 'Es ist kein Konto verknüpft.',
      since: (time: Html) => html`Verknüpft am ${time}.`,
      unlink: 'Trennen',
      unlinkText: (provider) => `Danach können Sie sich nicht mehr mit ${provider} anmelden.`,
      confirmUnlink: 'Ja, trennen',
      link: (provider) => `${provider} verknüpfen`,
      only: (provider) => `${provider} ist die einzige Möglichkeit, sich bei Ihrem Konto anzumelden.`,
      addFirst: (added: readonly Html[]) =>
        added.length === 0
          ? 'Sie können die Verknüpfung nicht trennen.'
          : html`Bevor Sie die Verknüpfung trennen, ${added.map((one, index) => html`${index > 0 && (index === added.length - 1 ? ' oder ' : ', ')}${one}`)}.`,
      added: {
        passkey: 'fügen Sie einen Passkey hinzu',
        password: 'legen Sie ein Passwort fest',
        email: 'fügen Sie eine E-Mail-Adresse hinzu',
        username: 'fügen Sie einen Benutzernamen hinzu',
        either: 'fügen Sie eine E-Mail-Adresse oder einen Benutzernamen hinzu',
        account: 'verknüpfen Sie ein anderes Konto',
      },
    },
    changes: {
      title: 'Letzte Änderungen',
      text: 'Die Änderungen der letzten 30 Tage.',
      mailed: 'Wenn eine davon nicht von Ihnen stammt, verwenden Sie den Link in der E-Mail dazu.',
      count: (count) =>
        plural(count, {
          one: `${count} Änderung in den letzten 30 Tagen.`,
          other: `${count} Änderungen in den letzten 30 Tagen.`,
        }),
      none: 'In den letzten 30 Tagen wurde nichts geändert.',
      undoable: 'kann rückgängig gemacht werden',
      bySupport: 'rückgängig nur durch den Support',
    },
    browsers: {
      title: 'Von Ihnen verwendete Browser',
      mailed: 'Wenn sich jemand mit einem anderen Browser anmeldet, erhalten Sie eine E-Mail.',
      count: (count) => (count === 0 ? 'Noch keine.' : `${count} Browser.`),
      text: 'Ihr Konto merkt sich diese Browser, auch nachdem Sie sich abgemeldet haben, bis Sie Ihr Passwort ändern oder entfernen oder die Zwei-Faktor-Authentifizierung in einem anderen Browser aktivieren. Entfernen Sie einen Browser, den Sie nicht mehr verwenden. Um sich dort abzumelden, verwenden Sie „Sitzungen“.',
      current: 'dieser Browser',
      seen: (first: Html, last: Html) => html`Zuerst verwendet am ${first}, zuletzt am ${last}.`,
      trusted: (until: Html) => html`Dort melden Sie sich bis zum ${until} nur mit dem Passwort an.`,
      forget: 'Entfernen',
      forgetText:
        'Die nächste Anmeldung dort gilt als Anmeldung in einem neuen Browser. Wenn Sie dort angemeldet sind, bleiben Sie angemeldet.',
      confirmForget: 'Ja, entfernen',
    },
  },
  account: {
    title: 'Profil',
    profile: 'Über Sie',
    save: 'Angaben speichern',
    username: 'Benutzername',
    saveUsername: 'Benutzernamen speichern',
    email: 'E-Mail-Adresse',
    noEmail: 'Dieses Konto hat keine E-Mail-Adresse.',
    verified: 'bestätigt',
    unverified: 'nicht bestätigt',
    verify: (isByCode) => `${isByCode ? 'Code' : 'Link'} zur Bestätigung senden`,
    pending: (email: Html) => html`Ausstehend: Öffnen Sie den Link, den wir an ${email} gesendet haben.`,
    emailAgain: 'E-Mail erneut senden',
    cancelEmail: 'Änderung abbrechen',
    newEmailHint:
      'Wir senden einen Link an die neue E-Mail-Adresse. Ihre E-Mail-Adresse wird geändert, sobald Sie den Link öffnen und dort die Schaltfläche drücken. Sie werden dann auf allen anderen Geräten abgemeldet.',
    changeEmail: 'E-Mail-Adresse ändern',
    firstEmail: 'E-Mail-Adresse hinzufügen',
    firstEmailHint:
      'Wir senden einen Link an diese E-Mail-Adresse. Sobald Sie ihn öffnen, hat Ihr Konto diese E-Mail-Adresse.',
    data: 'Meine Daten',
    dataText: 'Laden Sie eine Datei mit allem herunter, was über Sie gespeichert ist.',
    download: 'Meine Daten herunterladen',
    delete: 'Mein Konto löschen',
    opensDeletion: 'Löschen',
    ofDeletion: 'Mein Konto',
    deleteNow:
      'Das Konto wird sofort gelöscht, mit allem, was dazugehört. Das kann nicht rückgängig gemacht werden.',
    deleteLater: (count) =>
      `Alle Sitzungen werden sofort beendet, und das Konto kann nicht mehr verwendet werden. Nach ${days(count)} wird es endgültig gelöscht, mit allem, was dazugehört.`,
    restore: 'Bis dahin kann es mit einem Link wiederhergestellt werden, den wir Ihnen per E-Mail senden.',
    restoreByApp: 'Bis dahin können nur die Betreiber dieser App es wiederherstellen.',
    confirmDelete: 'Ja, löschen',
  },
  proof: {
    lead: 'Zu Ihrer Sicherheit ist das erst möglich, nachdem Sie Ihre Identität bestätigt haben.',
    first: 'Identität bestätigen',
  },
  sessions: {
    title: 'Sitzungen',
    lead: 'Sie sind auf diesen Geräten angemeldet. Wenn Sie eines davon nicht erkennen, beenden Sie die Sitzung hier.',
    browsers: (link: Html) => html`Browser, in denen Sie sich abgemeldet haben, finden Sie unter „${link}“.`,
    current: 'dieses Gerät',
    unknownDevice: 'Ein unbekanntes Gerät',
    acting: 'Ein Betreiber dieser App, um sie aus Ihrer Sicht zu sehen',
    ip: 'IP-Adresse',
    active: 'Zuletzt aktiv',
    created: 'Angemeldet seit',
    end: 'Abmelden',
    about: (device, created: Html) => html`(${device}, angemeldet am ${created})`,
    endOthers: 'Auf allen anderen Geräten abmelden',
    endAll: 'Ja, überall abmelden',
    wantsEndAll: 'Überall abmelden',
    endAllText: 'Sie werden überall abgemeldet, auch hier.',
  },
  keys: {
    title: 'API-Schlüssel',
    lead: 'Programme verwenden einen API-Schlüssel, um in Ihrem Namen zu handeln.',
    none: 'Sie haben keine API-Schlüssel.',
    created: 'Erstellt',
    used: 'Zuletzt verwendet',
    neverUsed: 'Nie',
    expires: 'Läuft ab',
    inDays: (count) => `In ${days(count)}`,
    neverExpires: 'Nie',
    expired: 'abgelaufen',
    scopes: 'Rechte',
    noScopes: 'alle Ihre Rechte',
    revoke: 'Widerrufen',
    revokeText:
      'Programme, die diesen Schlüssel verwenden, funktionieren sofort nicht mehr. Ein widerrufener Schlüssel kann nicht wiederhergestellt werden.',
    confirmRevoke: 'Ja, widerrufen',
    about: (name, start) => `Schlüssel ${name} (${start})`,
    make: 'API-Schlüssel erstellen',
    nameHint: 'Für Ihre Liste, zum Beispiel der Name des Programms.',
    allRights:
      'Wenn Sie ihn nicht einschränken, kann dieser Schlüssel alles tun, was Sie in dieser App tun können.',
    someRights: 'Nur diese:',
    everything: 'Alles, was Sie in dieser App tun können',
    everythingText:
      'Wer den Schlüssel hat, kann die App dann so verwenden, als wären Sie es. Wählen Sie dies nur für Programme, die es brauchen.',
    scopesHint:
      'Die Namen der Rechte, getrennt durch Leerzeichen oder Kommas. Sie stehen in der Dokumentation dieser App.',
    submit: 'Schlüssel erstellen',
    made: (name) => `Ihr neuer Schlüssel: ${name}`,
    madeText: 'Kopieren Sie ihn jetzt. Er wird nicht noch einmal angezeigt.',
  },
  roles: {
    owner: 'Inhaber',
    admin: 'Administrator',
    member: 'Mitglied',
  },
  organizations: {
    title: 'Organisationen',
    lead: 'Eine Organisation ist eine Gruppe von Personen, die in dieser App Daten teilen.',
    none: 'Sie sind in keiner Organisation Mitglied.',
    next: 'Ältere Organisationen',
    create: 'Organisation erstellen',
    submitCreate: 'Erstellen',
    slug: 'Kurzname',
    ownSlug: 'Kurznamen für Adressen wählen',
    newSlugHint:
      'Für Adressen, zum Beispiel acme-2: Kleinbuchstaben, Ziffern und Bindestriche. Wenn das Feld leer ist, wird der Kurzname aus dem Namen gebildet.',
  },
  organization: {
    ownRole: 'Ihre Rolle',
    change: 'Namen ändern',
    save: 'Speichern',
    slugHint:
      'Für Adressen, zum Beispiel acme-2: Kleinbuchstaben, Ziffern und Bindestriche. Wenn Sie ihn ändern, funktionieren bestehende Links zu dieser Organisation möglicherweise nicht mehr.',
    members: 'Mitglieder',
    // "Ältere Mitglieder" would be about the age of people.
    nextMembers: 'Weitere Mitglieder',
    you: 'Sie',
    since: (date: Html) => html`Mitglied seit dem ${date}`,
    changeMember: 'Ändern',
    role: 'Rolle',
    setRole: 'Rolle ändern',
    of: (name) => `für ${name}`,
    remove: 'Entfernen',
    removeText: 'Dieser Benutzer verliert sofort den Zugriff auf die Organisation.',
    confirmRemove: 'Ja, entfernen',
    invitations: 'Einladungen',
    nextInvitations: 'Ältere Einladungen',
    expires: (time: Html) => html`Läuft am ${time} ab`,
    revoke: 'Widerrufen',
    invitationOf: (email) => `Einladung an ${email}`,
    revokeText: 'Der Link in der E-Mail funktioniert dann nicht mehr.',
    confirmRevoke: 'Ja, widerrufen',
    invite: 'Jemanden einladen',
    inviteHint:
      'Wir senden per E-Mail einen Link, der nur für diese E-Mail-Adresse funktioniert. Wenn Sie sie noch einmal einladen, funktioniert ein früherer Link nicht mehr.',
    submitInvite: 'Einladen',
    leaveTitle: 'Organisation verlassen',
    leaveText: 'Sie verlieren sofort den Zugriff darauf.',
    lastOwner:
      'Sie sind der einzige Inhaber. Bevor Sie die Organisation verlassen können, muss ein anderes Mitglied Inhaber werden.',
    leave: 'Verlassen',
    confirmLeave: 'Ja, verlassen',
    deleteTitle: 'Organisation löschen',
    deleteText:
      'Sie wird sofort für alle Mitglieder gelöscht, mit allem, was dazugehört. Das kann nicht rückgängig gemacht werden.',
    delete: 'Löschen',
    confirmDelete: 'Ja, löschen',
  },
  changes: {
    'account-deleted': 'Das Konto wurde gelöscht',
    'account-recovered': 'Eine Änderung wurde rückgängig gemacht',
    'administrator-added': 'Das Konto wurde zum Administrator gemacht',
    'administrator-acted': 'Ein Betreiber dieser App hat Ihr Konto geöffnet',
    'api-key-created': 'Ein API-Schlüssel wurde erstellt',
    'data-exported': 'Die Daten des Kontos wurden heruntergeladen',
    'device-forgotten': 'Ein Browser wurde entfernt',
    'email-change-requested': 'Eine neue E-Mail-Adresse wurde angefordert',
    'email-changed': 'Die E-Mail-Adresse wurde geändert',
    'new-device': 'Eine Anmeldung in einem neuen Browser',
    'new-password-required': 'Ein neues Passwort wurde verlangt',
    'organization-owner-added': 'Ein Mitglied wurde Inhaber einer Organisation',
    'passkey-added': 'Ein Passkey wurde hinzugefügt',
    'passkey-removed': 'Ein Passkey wurde entfernt',
    'password-changed': 'Das Passwort wurde geändert',
    'password-removed': 'Das Passwort wurde entfernt',
    'password-set': 'Ein Passwort wurde festgelegt',
    'provider-linked': 'Ein Konto wurde verknüpft',
    'provider-unlinked': 'Die Verknüpfung mit einem Konto wurde getrennt',
    'recovery-code-used': 'Ein Backup-Code wurde verwendet',
    'recovery-codes-renewed': 'Neue Backup-Codes wurden erstellt',
    'second-factor-attempts': 'Falsche Codes wurden eingegeben',
    'second-factor-disabled': 'Die Zwei-Faktor-Authentifizierung wurde deaktiviert',
    'second-factor-enabled': 'Die Zwei-Faktor-Authentifizierung wurde aktiviert',
    'username-changed': 'Der Benutzername wurde geändert',
  },

  users: {
    title: 'Benutzer',
    search: 'Suche',
    searchHint: 'Teil einer E-Mail-Adresse oder eines Benutzernamens. Sonst wird nichts durchsucht.',
    submitSearch: 'Suchen',
    none: 'Keine Benutzer gefunden.',
    noneFor: (searched) => `Keine E-Mail-Adresse und kein Benutzername enthält „${searched}“.`,
    noneYet: 'Die Suche hat bisher keine Benutzer gefunden.',
    continueSearch: 'Suche fortsetzen',
    next: 'Nächste Seite',
    all: 'Alle Benutzer anzeigen',
    user: 'Benutzer',
    state: 'Status',
    active: 'Aktiv',
    created: 'Erstellt',
    tags: {
      own: 'Sie',
      closed: 'Löschung steht aus',
      suspended: 'Gesperrt',
      unverified: 'E-Mail-Adresse nicht bestätigt',
    },
    create: 'Benutzer erstellen',
    submitCreate: 'Benutzer erstellen',
    invites: 'Der Benutzer erhält eine E-Mail mit einem Link, um ein Passwort zu wählen.',
    either: (invites) =>
      `Ein Benutzer braucht eine E-Mail-Adresse, einen Benutzernamen oder beides.${invites ? ' Ohne E-Mail-Adresse kann der Benutzer kein Passwort wählen. Bitten Sie die Betreiber des Servers, eines festzulegen.' : ''}`,
  },
  user: {
    account: 'Konto',
    profile: 'Profil',
    signIn: 'Anmeldung',
    verified: 'E-Mail-Adresse bestätigt',
    created: 'Erstellt',
    state: 'Status',
    active: 'Aktiv',
    own: 'Das ist Ihr eigenes Konto.',
    closedSince: (time: Html) => html`Die Löschung wurde am ${time} angefordert.`,
    restorableUntil: (time: Html) =>
      html`Bis zum ${time} kann das Konto wiederhergestellt werden: mit dem Link in der E-Mail über die Löschung, falls es eine gibt, oder mit dem Befehl <code>npx latchkey users restore</code>.`,
    suspendedSince: (time: Html, until) =>
      until === null ? html`Gesperrt seit dem ${time}.` : html`Gesperrt seit dem ${time}, bis zum ${until}.`,
    reason: 'Grund',
    reasonHint: 'Eine Notiz für Administratoren. Der Benutzer sieht sie nicht.',
    until: 'Bis',
    untilHint: 'Wenn Sie das Feld leer lassen, gilt die Sperre, bis Sie sie aufheben.',
    emailedCode: 'Anmeldung per E-Mail',
    secondFactor: 'Zwei-Faktor-Authentifizierung',
    on: 'Aktiviert',
    off: 'Deaktiviert',
    totp: 'Authenticator-App',
    recoveryCodes: 'Verbleibende Backup-Codes',
    passkeys: 'Passkeys',
    providers: 'Verknüpfte Konten',
    // It stands for values of any gender.
    none: 'Nicht vorhanden',
    edit: 'Bearbeiten',
    save: 'Speichern',
    actions: 'Aktionen',
    roles: 'Rollen',
    rolesText: 'Was der Benutzer tun darf.',
    changeRoles: 'Ändern',
    ofRoles: 'Rollen',
    saveRoles: 'Speichern',
    fixedRoles: 'Einige Rollen erlauben mehr, als Sie selbst dürfen. Deshalb können Sie sie nicht ändern.',
    acting: 'Als dieser Benutzer agieren',
    act: 'Agieren',
    ofActing: 'Als dieser Benutzer',
    confirmAct: 'Ja, agieren',
    actText:
      'Sie sehen die App so, wie der Benutzer sie sieht, und können nichts ändern. Sie werden von Ihrem eigenen Konto abgemeldet, und der Benutzer wird informiert.',
    actingSession: 'Ein Administrator, der als der Benutzer agiert',
    suspension: 'Sperre',
    suspend: 'Sperren',
    ofSuspension: 'Benutzer',
    confirmSuspend: 'Ja, sperren',
    suspendText:
      'Alle Sitzungen des Benutzers werden beendet. Danach kann sich der Benutzer nicht mehr anmelden.',
    reinstate: 'Sperre aufheben',
    reinstateText: 'Wenn Sie sie aufheben, kann sich der Benutzer wieder anmelden.',
    passwordLink: 'Neues Passwort per E-Mail',
    sendPasswordReset: 'Link für ein neues Passwort senden',
    sendPasswordResetText:
      'Der Benutzer erhält eine E-Mail. Das aktuelle Passwort funktioniert, bis der Link verwendet wird.',
    sendFirstPassword: 'Link zur Wahl eines Passworts senden',
    sendFirstPasswordText:
      'Der Benutzer hat kein Passwort und erhält eine E-Mail mit einem Link, um eines zu wählen.',
    newPassword: 'Neues Passwort bei der nächsten Anmeldung',
    requireNewPassword: 'Verlangen',
    ofNewPassword: 'Neues Passwort',
    confirmRequireNewPassword: 'Ja, verlangen',
    requireNewPasswordText:
      'Alle Sitzungen des Benutzers werden beendet, und der Benutzer muss das aktuelle Passwort ersetzen.',
    disableSecondFactor: 'Deaktivieren',
    ofSecondFactor: 'Zwei-Faktor-Authentifizierung',
    confirmDisableSecondFactor: 'Ja, deaktivieren',
    disableSecondFactorText:
      'Für einen Benutzer, der die Authenticator-App, die Passkeys und die Backup-Codes verloren hat. Alle Sitzungen des Benutzers werden beendet.',
    deletion: 'Löschung',
    delete: 'Löschen',
    ofDeletion: 'Benutzer',
    confirmDelete: 'Ja, löschen',
    deleteText:
      'Der Benutzer wird mit allem gelöscht, was zum Konto gehört. Sie können das nicht rückgängig machen.',
    closeText: (count) =>
      `Danach kann das Konto nicht verwendet werden. Nach ${days(count)} wird es endgültig gelöscht. Bis dahin kann es mit dem Befehl npx latchkey users restore wiederhergestellt werden.`,
    sessions: 'Sitzungen',
    noSessions: 'Der Benutzer hat keine Sitzung.',
    unknownDevice: 'Unbekanntes Gerät',
    signedIn: (time: Html) => html`angemeldet am ${time}`,
    lastActive: (time: Html) => html`zuletzt aktiv ${time}`,
    endSession: 'Beenden',
    endSessions: 'Alle Sitzungen beenden',
    endSessionsText: 'Der Benutzer wird überall abgemeldet.',
    confirmEndSessions: 'Ja, alle beenden',
    events: 'Letzte Ereignisse',
    noEvents: 'Es gibt keine Ereignisse.',
    eventNames: {
      'account.linked': 'Ein Konto wurde verknüpft',
      'account.recovered': 'Eine Änderung wurde rückgängig gemacht',
      'account.unlinked': 'Die Verknüpfung mit einem Konto wurde getrennt',
      'admin.acting_started': 'Ein Administrator hat begonnen, als der Benutzer zu agieren',
      'admin.password_reset_sent': 'Ein Administrator hat einen Link für ein neues Passwort gesendet',
      'admin.session_revoked': 'Ein Administrator hat eine Sitzung beendet',
      'admin.sessions_revoked': 'Ein Administrator hat alle Sitzungen beendet',
      'admin.user_created': 'Ein Administrator hat das Konto erstellt',
      'admin.user_deleted': 'Ein Administrator hat das Konto gelöscht',
      'admin.user_updated': 'Ein Administrator hat das Konto geändert',
      'api_key.created': 'Ein API-Schlüssel wurde erstellt',
      'api_key.revoked': 'Ein API-Schlüssel wurde widerrufen',
      'device.trusted': 'Ein Browser wurde als vertrauenswürdig eingestuft',
      'organization.created': 'Eine Organisation wurde erstellt',
      'organization.deleted': 'Eine Organisation wurde gelöscht',
      'organization.invitation_created': 'Eine Einladung zu einer Organisation wurde erstellt',
      'organization.invitation_revoked': 'Eine Einladung zu einer Organisation wurde widerrufen',
      'organization.member_added': 'Der Benutzer wurde Mitglied einer Organisation',
      'organization.member_removed': 'Der Benutzer ist nicht mehr Mitglied einer Organisation',
      'organization.member_role_changed': 'Die Rolle in einer Organisation wurde geändert',
      'organization.updated': 'Eine Organisation wurde geändert',
      'passkey.added': 'Ein Passkey wurde hinzugefügt',
      'passkey.removed': 'Ein Passkey wurde entfernt',
      'password.changed': 'Das Passwort wurde geändert',
      'password.new_required': 'Ein neues Passwort wurde verlangt',
      'password.removed': 'Das Passwort wurde entfernt',
      'password.reset': 'Das Passwort wurde mit einem Link aus einer E-Mail ersetzt',
      'rate_limit.refused': 'Anfragen wurden abgelehnt, weil es zu viele waren',
      'mail.held': 'E-Mails an nicht bestätigte Adressen warten, weil es zu viele waren',
      'recovery_code.used': 'Ein Backup-Code wurde verwendet',
      'second_factor.disabled': 'Die Zwei-Faktor-Authentifizierung wurde deaktiviert',
      'second_factor.enabled': 'Die Zwei-Faktor-Authentifizierung wurde aktiviert',
      'session.created': 'Der Benutzer hat sich angemeldet',
      'session.reauthenticated': 'Der Benutzer hat seine Identität bestätigt',
      'session.revoked': 'Eine Sitzung wurde beendet',
      'sign_in.failed': 'Eine Anmeldung ist fehlgeschlagen',
      'sign_in.throttled': 'Anmeldungen wurden nach zu vielen Fehlversuchen pausiert',
      'tokens.read': 'Die Tokens eines verknüpften Kontos wurden gelesen',
      'tokens.refreshed': 'Die Tokens eines verknüpften Kontos wurden erneuert',
      'user.created': 'Das Konto wurde erstellt',
      'user.deleted': 'Das Konto wurde gelöscht',
      'user.deletion_requested': 'Die Löschung des Kontos wurde angefordert',
      'user.email_changed': 'Die E-Mail-Adresse wurde geändert',
      'user.email_verified': 'Die E-Mail-Adresse wurde bestätigt',
      'user.exported': 'Die Daten des Kontos wurden heruntergeladen',
      'user.reinstated': 'Die Sperre wurde aufgehoben',
      'user.restored': 'Das Konto wurde wiederhergestellt',
      'user.roles_changed': 'Die Rollen wurden geändert',
      'user.suspended': 'Der Benutzer wurde gesperrt',
      'user.updated': 'Das Profil wurde geändert',
    },
  },

  refusal: {
    back: (appName) => `Zurück zu ${appName}`,
    notSaved: 'Ihre Eingaben wurden nicht gespeichert.',
    signedInAs: (account) => `Sie sind als ${account} angemeldet.`,
    other: 'Mit anderem Konto anmelden',
    stopActing: 'Nicht mehr als dieser Benutzer agieren',
    titlesOf: {
      acting_session: 'Hier haben Sie jetzt keinen Zugriff',
      admin_required: 'Sie haben keinen Zugriff',
    },
    titles: {
      400: 'Diese Adresse ist nicht gültig',
      401: 'Sie wurden abgemeldet',
      403: 'Das ist nicht möglich',
      404: 'Seite nicht gefunden',
      405: 'Das ist nicht möglich',
      413: 'Die Anfrage ist zu groß',
      429: 'Zu viele Versuche',
      503: 'Versuchen Sie es in Kürze erneut',
    },
    wait: (words) => `Versuchen Sie es in ${words} erneut.`,
  },
  needed: {
    'second-factor-needed':
      'Die Seite, die Sie geöffnet haben, erfordert die Zwei-Faktor-Authentifizierung. Richten Sie sie ein, um fortzufahren.',
    'password-dropped':
      'Wir haben das Passwort dieses Kontos entfernt, weil es festgelegt wurde, bevor Sie Ihre E-Mail-Adresse bestätigt haben. Sie können auf dieser Seite ein neues festlegen.',
    'recovery-code-used':
      'Sie haben sich mit einem Backup-Code angemeldet, der nun nicht mehr funktioniert. Wenn Sie Ihr Smartphone verloren haben, richten Sie auf einem anderen eine Authenticator-App ein. Auf dieser Seite steht auch, wie viele Backup-Codes Sie noch haben.',
    'session-over': 'Ihre Sitzung wurde beendet. Melden Sie sich erneut an.',
    'set-up-expired':
      'Das hat zu lange gedauert oder wurde bereits abgeschlossen. Richten Sie Ihre Authenticator-App noch einmal ein.',
  },
  created: {
    welcome: (account) =>
      account === null
        ? 'Willkommen. Wir haben ein neues Konto erstellt.'
        : `Willkommen. Wir haben ein neues Konto für ${account} erstellt.`,
    hint: (signOut: Html) =>
      html`Wenn Sie ein bestehendes Konto erwartet haben, ${signOut} und mit einer anderen E-Mail-Adresse wieder an.`,
    signOut: 'melden Sie sich ab',
  },
  done: {
    'signed-out': 'Sie sind abgemeldet.',
    'password-reset': 'Ihr Passwort wurde geändert. Melden Sie sich damit an.',
    'invitation-accepted': 'Ihr Konto ist bereit. Melden Sie sich an.',
    'signed-up': 'Ihr Konto wurde erstellt. Melden Sie sich an.',
    'signed-up-to-confirm':
      'Ihr Konto wurde erstellt. Melden Sie sich an. Wir senden Ihnen dann per E-Mail einen Code, mit dem Sie Ihre E-Mail-Adresse bestätigen können.',
    'account-deleted': 'Ihr Konto wurde gelöscht.',
    'signed-out-everywhere': 'Sie sind überall abgemeldet.',
    sent: 'Die E-Mail ist unterwegs.',
    'password-changed': 'Ihr Passwort wurde geändert. Sie wurden auf allen anderen Geräten abgemeldet.',
    'password-set': 'Ihr Konto hat jetzt ein Passwort.',
    'password-removed': 'Ihr Passwort wurde entfernt. Sie wurden auf allen anderen Geräten abgemeldet.',
    'second-factor-on':
      'Die Zwei-Faktor-Authentifizierung ist aktiviert. Sie wurden auf allen anderen Geräten abgemeldet.',
    'second-factor-off': 'Die Zwei-Faktor-Authentifizierung ist deaktiviert.',
    'app-removed': 'Die Authenticator-App wurde entfernt.',
    'passkeys-off':
      'Ihre Passkeys sind nicht mehr der zweite Schritt. Sie wurden auf allen anderen Geräten abgemeldet.',
    'codes-renewed': 'Sie haben neue Backup-Codes. Die bisherigen Codes funktionieren nicht mehr.',
    'passkey-added': 'Der Passkey wurde hinzugefügt.',
    'passkey-removed': 'Der Passkey wurde entfernt. Entfernen Sie ihn auch von Ihrem Gerät.',
    linked: 'Das Konto wurde verknüpft.',
    unlinked: 'Die Verknüpfung mit dem Konto wurde getrennt.',
    'browser-forgotten': 'Der Browser wurde entfernt.',
    'browsers-not-trusted': 'Ab jetzt wird bei jeder Anmeldung wieder nach dem zweiten Schritt gefragt.',
    saved: 'Ihre Änderungen sind gespeichert.',
    'details-saved': 'Ihre Angaben sind gespeichert.',
    'username-saved': 'Ihr Benutzername ist gespeichert.',
    'email-change-sent':
      'Eine E-Mail mit einem Link ist an die neue Adresse unterwegs. Öffnen Sie den Link innerhalb einer Stunde und drücken Sie dort die Schaltfläche. Sehen Sie auch im Spam-Ordner nach.',
    'email-change-canceled':
      'Die Änderung Ihrer E-Mail-Adresse wurde abgebrochen. Der Link in der E-Mail funktioniert nicht mehr.',
    'session-ended': 'Die Sitzung wurde beendet.',
    'other-sessions-ended': 'Alle anderen Sitzungen wurden beendet.',
    'api-key-revoked': 'Der Schlüssel wurde widerrufen.',
    'organization-created': 'Die Organisation wurde erstellt. Sie sind ihr Inhaber.',
    'organization-saved': 'Die Änderungen wurden gespeichert.',
    'member-role-changed': 'Die Rolle wurde geändert.',
    'member-removed': 'Das Mitglied wurde entfernt.',
    'organization-left': 'Sie sind nicht mehr Mitglied dieser Organisation.',
    'member-invited': 'Die Einladung ist per E-Mail unterwegs.',
    'organization-invitation-revoked':
      'Die Einladung wurde widerrufen. Der Link darin funktioniert nicht mehr.',
    'organization-deleted': 'Die Organisation wurde gelöscht.',
    'user-created': 'Der Benutzer wurde erstellt.',
    'user-invited':
      'Der Benutzer wurde erstellt und erhält eine E-Mail mit einem Link, um ein Passwort zu wählen.',
    'user-changed': 'Die Änderungen wurden gespeichert.',
    'user-roles-changed': 'Die Rollen wurden geändert.',
    'user-suspended': 'Der Benutzer ist gesperrt.',
    'user-reinstated': 'Die Sperre wurde aufgehoben.',
    'user-closed': 'Das Konto kann nicht mehr verwendet werden und wird endgültig gelöscht.',
    'user-deleted': 'Der Benutzer wurde gelöscht.',
    'new-password-required': 'Der Benutzer muss ein neues Passwort wählen.',
    'second-factor-disabled': 'Die Zwei-Faktor-Authentifizierung des Benutzers wurde deaktiviert.',
    'sessions-ended': 'Alle Sitzungen des Benutzers wurden beendet.',
  },

  errorTitle: (title) => `Fehler: ${title}`,
  errorHeading: 'Es gibt ein Problem',
  codeOver,

  errors: {
    account_deleted:
      'Dieses Konto wurde gelöscht. Für einige Zeit kann es wiederhergestellt werden: mit dem Link in der E-Mail über die Löschung, falls es eine gibt, oder von den Betreibern dieser App.',
    account_exists:
      'Sie haben bereits ein Konto mit dieser E-Mail-Adresse. Melden Sie sich damit an und verknüpfen Sie dann diesen Dienst unter „Sicherheit“.',
    account_in_use: 'Das Konto kann noch nicht gelöscht werden, weil andere Daten davon abhängen.',
    account_linked_elsewhere:
      'Dieses Konto wird hier bereits zur Anmeldung bei einem anderen Konto verwendet. Melden Sie sich damit an oder verwenden Sie ein anderes.',
    account_not_linked:
      'Dieses Konto ist nicht verknüpft. Möglicherweise wurde die Verknüpfung bereits getrennt.',
    account_suspended: 'Dieses Konto ist gesperrt. Wenden Sie sich an die Betreiber dieses Dienstes.',
    access_denied:
      'Sie haben die Anmeldung bei dem anderen Dienst abgebrochen. Sie können es erneut versuchen oder sich auf andere Weise anmelden.',
    acting_session: 'Sie agieren als dieser Benutzer und können daher nur Seiten der App ansehen.',
    admin_required: 'Nur Administratoren können diese Seite öffnen.',
    already_member: 'Dieser Benutzer ist bereits Mitglied.',
    ambiguous_credentials: unexpected,
    api_key_not_found: 'Diesen Schlüssel gibt es nicht. Möglicherweise wurde er bereits widerrufen.',
    body_too_large:
      'Sie haben mehr eingegeben, als dieses Formular annimmt. Kürzen Sie Ihre Eingabe und versuchen Sie es erneut.',
    body_too_slow: 'Die Verbindung war zu langsam. Versuchen Sie es erneut.',
    code_expired: 'Dieser Code funktioniert hier nicht mehr. Fordern Sie einen neuen an.',
    device_not_found: 'Ihr Konto kennt diesen Browser nicht. Möglicherweise wurde er bereits entfernt.',
    email_code_not_offered:
      'Hier kann kein Code per E-Mail gesendet werden. Bestätigen Sie Ihre Identität auf andere Weise.',
    email_missing: 'Dieser Benutzer hat keine E-Mail-Adresse, an die ein Link gesendet werden könnte.',
    email_not_verified: 'Bestätigen Sie zuerst Ihre E-Mail-Adresse.',
    email_taken: 'Ein anderes Konto hat diese E-Mail-Adresse.',
    email_unproven:
      'Die E-Mail-Adresse dieses Benutzers ist nicht bestätigt, der Benutzer könnte also jemand anderes sein.',
    human_check_failed:
      'Wir konnten nicht bestätigen, dass ein Mensch dies gesendet hat. Versuchen Sie es erneut.',
    'human_check_failed/no-script':
      'Wir konnten nicht bestätigen, dass ein Mensch dies gesendet hat. Aktivieren Sie JavaScript, laden Sie diese Seite neu und versuchen Sie es erneut.',
    insufficient_scope: unexpected,
    invitation_for_other_email:
      'Diese Einladung ist für eine andere E-Mail-Adresse. Melden Sie sich ab und öffnen Sie dann den Link in der E-Mail noch einmal.',
    invitation_not_found:
      'Diese Einladung gibt es nicht. Möglicherweise wurde sie bereits angenommen oder widerrufen.',
    invalid_api_key: unexpected,
    invalid_callback_url: unexpected,
    invalid_code:
      'Dieser Code ist falsch oder wurde bereits verwendet. Prüfen Sie ihn und versuchen Sie es erneut.',
    invalid_credentials: 'Die E-Mail-Adresse oder das Passwort ist falsch.',
    invalid_flow:
      'Die Anmeldung bei dem anderen Dienst hat zu lange gedauert oder wurde in einem anderen Browser begonnen. Versuchen Sie es erneut.',
    invalid_json: unexpected,
    invalid_passkey: 'Der Passkey wurde nicht akzeptiert. Versuchen Sie es erneut.',
    invalid_request: unexpected,
    invalid_session: 'Sie wurden abgemeldet. Melden Sie sich erneut an, um fortzufahren.',
    invalid_token: 'Dieser Link ist nicht mehr gültig: Er wurde bereits verwendet oder ist abgelaufen.',
    last_owner:
      'Eine Organisation braucht einen Inhaber, dessen Konto aktiv ist. Machen Sie zuerst ein anderes Mitglied zum Inhaber oder löschen Sie die Organisation.',
    last_sign_in_method:
      'Das ist die einzige Möglichkeit, sich bei Ihrem Konto anzumelden. Fügen Sie zuerst eine andere hinzu.',
    mail_refused: 'Diese Adresse nimmt keine E-Mails an. Prüfen Sie sie auf Tippfehler.',
    member_not_found:
      'Dieser Benutzer ist kein Mitglied. Möglicherweise ist die Mitgliedschaft bereits beendet.',
    method_not_allowed: unexpected,
    new_password_required:
      'Dieses Konto braucht ein neues Passwort. Öffnen Sie den Link, den wir Ihnen per E-Mail gesendet haben.',
    no_passkey: 'Sie haben noch keinen Passkey. Fügen Sie zuerst einen hinzu.',
    organization_full: 'Die Organisation hat so viele Mitglieder wie möglich.',
    organization_in_use:
      'Die Organisation kann noch nicht gelöscht werden, weil andere Daten davon abhängen.',
    organization_not_found: 'Diese Organisation gibt es nicht, oder Sie sind dort kein Mitglied.',
    origin_not_allowed:
      'Dieses Formular wurde von einer anderen Website gesendet oder von einer Adresse, die nicht die übliche dieser App ist. Öffnen Sie die App unter ihrer üblichen Adresse und versuchen Sie es erneut.',
    other_browser:
      'Sie haben diese E-Mail in einem anderen Browser angefordert. Geben Sie den Code aus der E-Mail dort ein. Wenn Sie die E-Mail nicht angefordert haben, ignorieren Sie sie.',
    own_account: 'Das ist Ihr eigenes Konto. Bitten Sie einen anderen Administrator, dies zu tun.',
    passkey_exists:
      'Dieser Passkey wird bereits verwendet. Verwenden Sie ein anderes Gerät oder melden Sie sich damit an.',
    passkey_not_found: 'Diesen Passkey gibt es nicht. Möglicherweise wurde er bereits entfernt.',
    password_already_set: 'Das Konto hat bereits ein Passwort. Sie können es stattdessen ändern.',
    password_not_set: 'Das Konto hat kein Passwort.',
    proof_required: 'Es ist noch mehr nötig, um zu zeigen, dass dieses Konto vor der Änderung Ihnen gehörte.',
    provider_already_linked:
      'Ein anderes Konto dieses Dienstes ist bereits verknüpft. Trennen Sie zuerst diese Verknüpfung.',
    provider_error:
      'Der andere Dienst hat nicht wie erwartet geantwortet. Versuchen Sie es erneut oder melden Sie sich auf andere Weise an.',
    permission_required: 'Das dürfen Sie nicht. Wenden Sie sich an einen Administrator.',
    provider_not_found: 'Dieser Dienst ist nicht verfügbar. Melden Sie sich auf andere Weise an.',
    provider_slow:
      'Der andere Dienst braucht länger als üblich. Versuchen Sie es in ein paar Sekunden erneut.',
    rate_limited: 'Zu viele Versuche. Versuchen Sie es später erneut.',
    'rate_limited/again':
      'Wir können diese E-Mail vorerst nicht noch einmal senden. Verwenden Sie die neueste, die Sie haben.',
    reauthentication_required:
      'Ihre Anmeldung liegt schon eine Weile zurück. Bestätigen Sie Ihre Identität und versuchen Sie es dann erneut.',
    refresh_token_missing: 'Dieses Konto muss erneut verknüpft werden.',
    relink_required: 'Dieses Konto muss erneut verknüpft werden.',
    scope_required: unexpected,
    second_factor_demanded:
      'Ihr Konto braucht die Zwei-Faktor-Authentifizierung. Richten Sie zuerst eine andere Authenticator-App oder einen anderen Passkey ein.',
    second_factor_required:
      'Das erfordert die Zwei-Faktor-Authentifizierung. Bestätigen Sie Ihre Identität und versuchen Sie es dann erneut.',
    session_not_found: 'Diese Sitzung ist bereits beendet.',
    session_required: unexpected,
    sign_in_expired:
      'Dieser Vorgang ist abgelaufen, wurde bereits abgeschlossen, oder ein Code wurde zu oft falsch eingegeben. Beginnen Sie von vorn.',
    sign_up_incomplete: 'Der andere Dienst hat nicht alles weitergegeben, was ein Konto braucht.',
    sign_up_refused:
      'Sie können sich hier nicht registrieren. Bitten Sie die Betreiber dieser App um ein Konto.',
    target_is_administrator:
      'Dieser Benutzer ist Administrator, deshalb ist das hier nicht möglich. Wenden Sie sich an die Betreiber dieser App.',
    slug_taken: 'Eine andere Organisation hat diesen Kurznamen. Wählen Sie einen anderen.',
    task_required: 'Es fehlt noch ein Schritt, bevor Sie das tun können.',
    too_many_api_keys:
      'Sie haben so viele Schlüssel wie möglich. Widerrufen Sie einen, den Sie nicht mehr brauchen.',
    too_many_invitations:
      'Die Organisation hat so viele Einladungen wie möglich. Widerrufen Sie eine oder warten Sie, bis eine angenommen wird.',
    too_many_organizations:
      'Sie sind Inhaber so vieler Organisationen wie möglich. Löschen Sie eine oder machen Sie jemand anderen zum Inhaber einer davon.',
    too_many_passkeys:
      'Sie haben so viele Passkeys wie möglich. Entfernen Sie einen, den Sie nicht mehr verwenden.',
    totp_not_enabled: 'Die Zwei-Faktor-Authentifizierung ist deaktiviert. Aktivieren Sie sie zuerst.',
    unauthenticated: 'Sie wurden abgemeldet. Melden Sie sich erneut an, um fortzufahren.',
    unavailable: 'Das ist im Moment nicht möglich.',
    unknown_passkey:
      'Kein Konto hat diesen Passkey. Melden Sie sich auf andere Weise an und löschen Sie den Passkey von Ihrem Gerät.',
    unsupported_media_type: unexpected,
    user_not_found: 'Diesen Benutzer gibt es nicht.',
    username_taken: 'Dieser Benutzername ist vergeben. Wählen Sie einen anderen.',
    validation_failed: 'Prüfen Sie Ihre Eingaben.',
  },

  errorsAt: {
    access_denied: (provider) =>
      `Sie haben bei ${provider} abgebrochen. Versuchen Sie es erneut oder melden Sie sich auf andere Weise an.`,
    account_exists: (provider) =>
      `Sie haben hier bereits ein Konto mit der E-Mail-Adresse Ihres Kontos bei ${provider}. Melden Sie sich damit hier an und verknüpfen Sie dann ${provider} unter „Sicherheit“.`,
    invalid_flow: (provider) =>
      `Die Anmeldung bei ${provider} hat zu lange gedauert oder wurde in einem anderen Browser begonnen. Versuchen Sie es erneut.`,
    provider_error: (provider) =>
      `${provider} hat nicht wie erwartet geantwortet. Versuchen Sie es erneut oder melden Sie sich auf andere Weise an.`,
    provider_slow: (provider) =>
      `${provider} braucht länger als üblich. Versuchen Sie es in ein paar Sekunden erneut.`,
    sign_up_incomplete: (provider, page) =>
      `${provider} hat nicht alles weitergegeben, was ein Konto braucht.${page === 'sign-up' ? ' Füllen Sie stattdessen das Formular aus.' : ''}`,
  },

  later: 'Versuchen Sie es später erneut.',

  errorsOf: {
    account: { invalid_credentials: 'Das ist nicht Ihr aktuelles Passwort.' },
    'account/delete': {
      last_owner:
        'Sie sind der einzige Inhaber einer Organisation, die weitere Mitglieder hat. Machen Sie zuerst eines davon zum Inhaber oder löschen Sie die Organisation. Es wurde nichts gelöscht.',
    },
    'account/api-keys': { invalid_credentials: 'Das ist nicht Ihr aktuelles Passwort.' },
    'account/api-keys/create': {
      '/expires_at': 'Wählen Sie ein Datum nach dem heutigen Tag.',
      '/name': 'Geben Sie einen Namen mit höchstens 100 Zeichen ein.',
      '/scopes':
        'Geben Sie die Namen von Rechten ein, die in der Dokumentation dieser App stehen, getrennt durch Leerzeichen oder Kommas.',
    },
    'account/organizations/create': {
      admin_required: 'Nur Administratoren können Organisationen erstellen.',
      email_not_verified:
        'Bestätigen Sie zuerst Ihre E-Mail-Adresse. Danach können Sie eine Organisation erstellen.',
      '/name': 'Geben Sie einen Namen mit höchstens 100 Zeichen ein.',
      '/slug': wrongSlug,
    },
    'account/organizations/organization': {
      invalid_credentials: 'Das ist nicht Ihr aktuelles Passwort.',
      last_owner:
        'Diese Organisation hätte keinen Inhaber mit aktivem Konto mehr. Machen Sie zuerst ein anderes Mitglied zum Inhaber. Es wurde nichts geändert.',
      permission_required: 'Ihre Rolle erlaubt das nicht. Wenden Sie sich an einen Inhaber der Organisation.',
    },
    'account/organizations/organization/invite': {
      permission_required: 'Ihre Rolle erlaubt es nicht, jemanden mit dieser Rolle einzuladen.',
      '/role': unknownRole,
    },
    'account/organizations/organization/remove/:userId': {
      permission_required: 'Ihre Rolle erlaubt es nicht, dieses Mitglied zu entfernen.',
    },
    'account/organizations/organization/rename': {
      '/name': 'Geben Sie einen Namen mit höchstens 100 Zeichen ein.',
      '/slug': wrongSlug,
    },
    'account/organizations/organization/set-role/:userId': {
      permission_required: 'Ihre Rolle erlaubt es nicht, diese Rolle zu geben oder zu nehmen.',
      '/role': unknownRole,
    },
    'account/security': {
      access_denied: 'Sie haben bei dem anderen Dienst abgebrochen, deshalb wurde kein Konto verknüpft.',
      email_not_verified:
        'Bestätigen Sie zuerst Ihre E-Mail-Adresse. Danach können Sie die Zwei-Faktor-Authentifizierung aktivieren und Passkeys hinzufügen.',
      invalid_credentials: 'Das ist nicht Ihr aktuelles Passwort.',
    },
    'account/security/second-factor/confirm-app': {
      invalid_code:
        'Das ist nicht der Code, den Ihre App jetzt anzeigt. Warten Sie auf den nächsten Code und geben Sie diesen ein.',
    },
    'administration/users/create': {
      email_taken: 'Ein Benutzer hat diese E-Mail-Adresse bereits.',
      username_taken: 'Ein Benutzer hat diesen Benutzernamen bereits.',
      '/email/required/either': 'Geben Sie eine E-Mail-Adresse oder einen Benutzernamen ein.',
      '/email/required/username': 'Geben Sie eine E-Mail-Adresse oder einen Benutzernamen ein.',
    },
    'administration/users/user/roles': {
      permission_required: 'Eine Rolle, die Sie geändert haben, erlaubt mehr, als Sie selbst dürfen.',
      '/roles':
        'Wählen Sie Rollen aus dieser Liste. Die Liste hat sich möglicherweise geändert, öffnen Sie diese Seite daher erneut.',
    },
    'administration/users/user/edit': {
      username_taken: 'Ein anderer Benutzer hat diesen Benutzernamen.',
    },
    'administration/users/user/suspend': { '/until': 'Wählen Sie einen Zeitpunkt in der Zukunft.' },
    'change-email/confirm': {
      email_taken: 'Inzwischen hat ein anderes Konto diese E-Mail-Adresse.',
      invalid_credentials: 'Das ist nicht das Passwort dieses Kontos.',
      'unauthenticated/password':
        'Geben Sie das Passwort dieses Kontos ein oder öffnen Sie diesen Link dort, wo Sie angemeldet sind.',
    },
    join: {
      account_exists:
        'Für diese E-Mail-Adresse gibt es ein Konto. Melden Sie sich damit an und treten Sie dann bei.',
      invalid_token:
        'Diese Einladung wurde bereits verwendet, ersetzt oder widerrufen, oder sie ist abgelaufen.',
      sign_up_refused: 'Sie können hier kein Konto erstellen. Bitten Sie die Betreiber dieser App um eines.',
    },
    invitation: { invalid_token: 'Diese Einladung wurde bereits verwendet oder ist abgelaufen.' },
    'reauthenticate/confirm': {
      'invalid_code/code': wrongTotp,
      invalid_credentials: 'Das ist nicht Ihr aktuelles Passwort.',
      sign_in_expired: codeOver,
    },
    refusal: {
      invalid_session: 'Melden Sie sich erneut an, um fortzufahren.',
      unauthenticated: 'Melden Sie sich erneut an, um fortzufahren.',
      invalid_request: '',
    },
    'reset-password/set': {
      '/code': 'Geben Sie den Code ein.',
      code_expired: codeOver,
      invalid_code:
        'Dieser Code ist falsch. Prüfen Sie ihn in der neuesten E-Mail und versuchen Sie es erneut.',
    },
    'second-factor/confirm': {
      'invalid_code/totp': wrongTotp,
      sign_in_expired:
        'Diese Anmeldung ist abgelaufen, oder es wurde zu oft ein falscher Code eingegeben. Melden Sie sich erneut an.',
      'sign_in_expired/email_code':
        'Diese Anmeldung ist abgelaufen, oder es wurde zu oft ein falscher Code eingegeben. Melden Sie sich erneut an, um einen neuen Code zu erhalten.',
      invalid_credentials:
        'Dieser Code ist falsch oder wurde bereits verwendet. Prüfen Sie ihn und versuchen Sie es erneut.',
    },
    'sign-in/email/confirm': {
      '/code': 'Geben Sie den Code ein.',
      invalid_code:
        'Dieser Code ist falsch. Prüfen Sie ihn in der neuesten E-Mail und versuchen Sie es erneut.',
      sign_in_expired: codeOver,
    },
    'sign-in/password': {
      'invalid_credentials/either': 'Die E-Mail-Adresse, der Benutzername oder das Passwort ist falsch.',
      'invalid_credentials/username': 'Der Benutzername oder das Passwort ist falsch.',
      'invalid_credentials/email/concealed': `Die E-Mail-Adresse oder das Passwort ist falsch${unconfirmed}`,
      'invalid_credentials/either/concealed': `Die E-Mail-Adresse, der Benutzername oder das Passwort ist falsch${unconfirmed}`,
    },
    'sign-in/send-code': {
      '/email': 'Um einen Code zu erhalten, geben Sie Ihre E-Mail-Adresse ein, zum Beispiel ada@example.com.',
    },
    'sign-in': {
      invalid_passkey:
        'Der Passkey wurde nicht akzeptiert. Versuchen Sie es erneut oder melden Sie sich auf andere Weise an.',
    },
    'sign-up': {
      sign_up_incomplete:
        'Der andere Dienst hat nicht alles weitergegeben, was ein Konto braucht. Füllen Sie stattdessen das Formular aus.',
    },
    'sign-up/password': {
      email_taken: 'Sie haben bereits ein Konto mit dieser E-Mail-Adresse.',
      '/email/required/either': 'Geben Sie eine E-Mail-Adresse, einen Benutzernamen oder beides ein.',
    },
    'undo-change/confirm': {
      'invalid_code/code':
        'Dieser Code ist falsch oder wurde bereits verwendet. Warten Sie auf den nächsten Code der App, die Sie vor der Änderung hatten.',
      'invalid_code/recovery_code':
        'Dieser Backup-Code ist falsch oder wurde bereits verwendet. Geben Sie einen ein, den Sie vor der Änderung hatten.',
      invalid_credentials: 'Das war nicht Ihr Passwort vor der Änderung.',
      'invalid_code/account-deleted/code': wrongTotp,
      'invalid_code/account-deleted/recovery_code':
        'Dieser Backup-Code ist falsch oder wurde bereits verwendet. Geben Sie einen anderen ein.',
      'invalid_credentials/account-deleted/password': 'Das ist nicht das Passwort dieses Kontos.',
      'proof_required/account-deleted/password': ownPassword,
      'proof_required/code': 'Geben Sie einen Code aus Ihrer Authenticator-App oder einen Backup-Code ein.',
      'proof_required/password': 'Geben Sie das Passwort ein, das das Konto vor dieser Änderung hatte.',
    },
    'verify-email/confirm': {
      invalid_code:
        'Dieser Code ist falsch. Prüfen Sie ihn in der neuesten E-Mail und versuchen Sie es erneut.',
      invalid_credentials: 'Das ist nicht das Passwort dieses Kontos.',
      'unauthenticated/password': ownPassword,
    },
  },

  missing: {
    code: 'Geben Sie den Code ein.',
    confirmation: 'Geben Sie den Text zur Bestätigung ein. Es wurde nichts gelöscht.',
    credential: 'Geben Sie Ihre E-Mail-Adresse oder Ihren Benutzernamen ein.',
    'credential/email': 'Geben Sie Ihre E-Mail-Adresse ein.',
    'credential/username': 'Geben Sie Ihren Benutzernamen ein.',
    email: 'Geben Sie eine E-Mail-Adresse ein.',
    email_code: 'Geben Sie den Code ein.',
    name: 'Geben Sie einen Namen ein.',
    new_email: 'Geben Sie Ihre neue E-Mail-Adresse ein.',
    slug: 'Geben Sie einen Kurznamen ein.',
    new_password: 'Geben Sie ein neues Passwort ein.',
    password: 'Geben Sie ein Passwort ein.',
    recovery_code: 'Geben Sie einen Backup-Code ein.',
    scopes: 'Wählen Sie mindestens ein Recht.',
    username: 'Geben Sie einen Benutzernamen ein.',
  },

  wrongFormat: (label, hint) => `Prüfen Sie das Format von „${label}“.${hint === null ? '' : ` ${hint}`}`,
  notChosen: 'Wählen Sie eine dieser Optionen.',

  wholeLink: 'Falls der Link unvollständig ist, kopieren Sie den ganzen Link aus der E-Mail.',
  otherAccount: (account) =>
    `Sie sind jetzt als ${account} angemeldet, aber dieses Formular gehörte zu einem anderen Konto. Es wurde nichts geändert.`,
  fieldErrors: {
    not_confirmed: 'Das stimmt nicht überein. Es wurde nichts gelöscht.',
    invalid_email: 'Geben Sie eine E-Mail-Adresse wie ada@example.com ein.',
    internationalized_email:
      'Geben Sie eine E-Mail-Adresse ohne Umlaute, Akzente und andere besondere Buchstaben vor dem @ ein.',
    other_account: 'Sie haben sich inzwischen bei einem anderen Konto angemeldet. Es wurde nichts geändert.',
    password_breached: 'Dieses Passwort ist aus einem Datenleck bekannt. Wählen Sie ein anderes.',
    password_is_identifier:
      'Wählen Sie ein Passwort, das nicht Ihre E-Mail-Adresse oder Ihr Benutzername ist.',
    password_too_common: 'Dieses Passwort ist leicht zu erraten. Wählen Sie ein anderes.',
    required: 'Füllen Sie dieses Feld aus.',
    same_email: 'Das ist bereits Ihre E-Mail-Adresse.',
    same_password: 'Das ist Ihr aktuelles Passwort. Wählen Sie ein anderes.',
    taken: 'Das ist bereits vergeben. Wählen Sie etwas anderes.',
    unknown_key: 'Dieses Feld wird hier nicht erwartet. Laden Sie die Seite neu und versuchen Sie es erneut.',
    wrong_type: 'Dieser Wert ist hier nicht möglich. Prüfen Sie ihn und versuchen Sie es erneut.',
    'wrong_type/integer': 'Geben Sie eine ganze Zahl ein, zum Beispiel 45.',
    'wrong_type/number': 'Geben Sie eine Zahl ein.',
    'invalid/plainDate': 'Geben Sie ein Datum ein.',
  },

  steps: {
    'forgot-password': 'Passwort zurücksetzen',
    reauthenticate: 'Identität bestätigen',
    'sign-in': 'Anmelden',
    'sign-up': 'Konto erstellen',
    support: 'Support kontaktieren',
    'verify-email': 'E-Mail-Adresse bestätigen',
  },
};
