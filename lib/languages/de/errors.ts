import { type Html, html } from '../../html.js';
import type { Unit } from '../../phrases.js';
import type { ErrorWords } from '../../words/catalogue.js';
import { pluralsIn } from '../../words/plural.js';

const plural = pluralsIn('de');

const units = {
  characters: { other: 'Zeichen' },
  items: { one: 'Eintrag', other: 'Einträge' },
};

function counted(count: number, unit: Unit): string {
  return `${count} ${plural(count, units[unit])}`;
}

/** What errors say in German. */
export const errors: ErrorWords = {
  problems: {
    // Requests.
    invalid_json: 'Der Body ist kein gültiges JSON in UTF-8.',
    invalid_request: 'Die Anfrage ist fehlerhaft: Prüfen Sie ihren Pfad, ihre Parameter und ihre Header.',
    invalid_callback_url:
      'callback_url muss ein Pfad dieser App oder eine URL einer vertrauenswürdigen Origin sein.',
    method_not_allowed: 'Dieser Pfad unterstützt diese Methode nicht: siehe Allow.',
    body_too_slow: 'Es hat länger als 10 Sekunden gedauert, bis der Body ankam. Senden Sie ihn erneut.',
    body_too_large: 'Der Body ist größer als 16 KiB.',
    unsupported_media_type: 'Senden Sie den Body als application/json in UTF-8, unkomprimiert.',
    validation_failed: 'Der Body ist ungültig: siehe errors.',
    origin_not_allowed:
      'Dies wurde von einer anderen Website gesendet oder von einer Adresse, die nicht die übliche dieser App ist. Öffnen Sie die App unter ihrer üblichen Adresse und versuchen Sie es erneut.',
    rate_limited: 'Zu viele Versuche. Versuchen Sie es später erneut.',
    unavailable: 'Der Dienst ist vorübergehend nicht verfügbar. Versuchen Sie es in Kürze erneut.',
    human_check_failed:
      'Es konnte nicht bestätigt werden, dass ein Mensch dies gesendet hat. Laden Sie die Seite neu und versuchen Sie es dann erneut.',

    // Sign-ins, sessions and codes.
    unauthenticated: 'Melden Sie sich zuerst an: Die Anfrage enthält keine Sitzung.',
    invalid_session: 'Die Sitzung wurde beendet oder hat nie bestanden. Melden Sie sich erneut an.',
    session_required: 'Das erfordert eine Sitzung: Melden Sie sich an.',
    session_not_found: 'Sie haben keine solche Sitzung: Möglicherweise wurde sie bereits beendet.',
    invalid_credentials:
      'Der Kontoname oder das Passwort ist falsch. Prüfen Sie beides und versuchen Sie es erneut.',
    invalid_code:
      'Der Code ist falsch oder wurde bereits verwendet. Prüfen Sie ihn oder geben Sie einen neueren ein.',
    code_expired: 'Dieser Code funktioniert hier nicht mehr. Fordern Sie einen neuen an.',
    invalid_token:
      'Der Link ist abgelaufen, wurde bereits verwendet oder ist nicht gültig. Fordern Sie einen neuen an.',
    sign_in_expired:
      'Diese Anmeldung hat zu lange gedauert oder wurde bereits abgeschlossen. Beginnen Sie von vorn.',
    second_factor_required: 'Das erfordert Ihren zweiten Faktor: Geben Sie ihn mit POST /reauthenticate an.',
    reauthentication_required:
      'Ihre Anmeldung liegt zu lange zurück. Bestätigen Sie Ihre Identität und versuchen Sie es dann erneut.',
    email_code_not_offered:
      'Hier wird kein Code per E-Mail gesendet. Verwenden Sie eine Ihrer anderen Methoden.',
    task_required: 'Sie müssen zuerst eine Aufgabe erledigen: siehe task.',
    acting_session:
      'Ein Administrator agiert als dieser Benutzer. Das ist dabei nicht erlaubt. Beenden Sie dies zuerst: Melden Sie sich ab.',
    device_not_found: 'Ihr Konto kennt diesen Browser nicht. Möglicherweise wurde er bereits entfernt.',
    other_browser:
      'Dieser Link funktioniert nur in dem Browser, in dem Sie ihn angefordert haben. Geben Sie dort den Code aus der E-Mail ein.',

    // Permissions.
    admin_required: 'Das kann nur ein Administrator tun: Melden Sie sich als Administrator an.',
    permission_required: 'Sie haben nicht die Berechtigung, die dafür nötig ist.',
    target_is_administrator:
      'Dieser Benutzer ist Administrator, deshalb ist das hier nicht möglich: Die Betreiber dieser App tun dies in deren Konfiguration.',
    insufficient_scope:
      'Den Anmeldedaten fehlt ein erforderlicher Scope: Verwenden Sie welche, die ihn haben.',
    scope_required:
      'Diese Anmeldedaten sind auf ihre Scopes beschränkt, und kein Scope erlaubt diesen Pfad: Verwenden Sie Anmeldedaten ohne Scopes.',
    own_account: 'Das ist Ihr eigenes Konto: Ein anderer Administrator muss dies tun.',

    // Accounts.
    sign_up_refused:
      'Sie können sich hier nicht registrieren. Bitten Sie die Betreiber dieser App um ein Konto.',
    account_exists:
      'Es gibt bereits ein Konto mit dieser E-Mail-Adresse. Melden Sie sich damit an und versuchen Sie es dann erneut.',
    email_taken:
      'Es gibt bereits ein Konto mit dieser E-Mail-Adresse. Melden Sie sich damit an oder verwenden Sie eine andere E-Mail-Adresse.',
    username_taken: 'Dieser Benutzername ist vergeben. Wählen Sie einen anderen.',
    user_not_found: 'Diesen Benutzer gibt es nicht: Prüfen Sie die ID.',
    account_in_use: 'Das Konto kann nicht gelöscht werden, weil andere Daten davon abhängen.',
    account_deleted:
      'Dieses Konto wurde gelöscht. Für einige Zeit kann es wiederhergestellt werden: mit dem Link in der E-Mail über die Löschung, falls es eine gibt, oder von den Betreibern dieser App.',
    account_suspended: 'Dieses Konto ist gesperrt. Wenden Sie sich an die Betreiber dieses Dienstes.',
    email_not_verified:
      'Bestätigen Sie zuerst Ihre E-Mail-Adresse: Öffnen Sie den Link in der E-Mail, die Ihnen gesendet wurde.',
    email_unproven:
      'Ein Konto hat diese E-Mail-Adresse, aber niemand hat nachgewiesen, dass sie dessen Benutzer gehört. Bestätigen Sie zuerst die E-Mail-Adresse oder löschen Sie das Konto.',
    email_missing: 'Dieser Benutzer hat keine E-Mail-Adresse, an die ein Link gesendet werden könnte.',
    mail_refused: 'Der Mailserver lehnt diese E-Mail dauerhaft ab: Prüfen Sie die Adresse.',
    proof_required:
      'Der Link allein genügt nicht. Öffnen Sie ihn in einem Browser, den das Konto schon eine Weile kannte, und erbringen Sie den Nachweis, den eine Anmeldung vor dieser Änderung erforderte. Siehe missing.',
    last_sign_in_method: 'Das ist Ihre einzige Anmeldemethode. Fügen Sie zuerst eine andere hinzu.',

    // Passwords and second factors.
    password_not_set: 'Das Konto hat kein Passwort.',
    password_already_set: 'Das Konto hat bereits ein Passwort. Ändern Sie es stattdessen.',
    new_password_required:
      'Dieses Konto braucht ein neues Passwort. Öffnen Sie den Link in der E-Mail, die Ihnen gesendet wurde, oder fordern Sie eine neue E-Mail an.',
    totp_not_enabled: 'Dieses Konto hat keinen zweiten Faktor. Richten Sie zuerst einen ein.',
    second_factor_demanded:
      'Dieses Konto muss einen zweiten Faktor haben. Richten Sie zuerst einen anderen ein und entfernen Sie dann diesen.',
    no_passkey:
      'Das Konto hatte vor dieser Änderung noch nicht lange genug einen Passkey. Geben Sie das Passwort und den zweiten Faktor ein, die vor der Änderung galten.',

    // Passkeys.
    invalid_passkey:
      'Der Passkey konnte nicht überprüft werden, oder es ist zu viel Zeit vergangen. Versuchen Sie es erneut.',
    unknown_passkey:
      'Kein Konto hat diesen Passkey. Melden Sie sich auf andere Weise an und löschen Sie den Passkey von Ihrem Gerät.',
    passkey_not_found: 'Sie haben keinen solchen Passkey. Möglicherweise wurde er bereits entfernt.',
    passkey_exists:
      'Dieser Passkey wird bereits verwendet. Verwenden Sie ein anderes Gerät oder melden Sie sich mit diesem Passkey an.',
    too_many_passkeys:
      'Sie haben die Höchstzahl an Passkeys. Entfernen Sie einen, den Sie nicht mehr verwenden.',

    // Providers.
    invalid_flow:
      'Diese Anmeldung wurde nicht in diesem Browser begonnen, ist bereits abgeschlossen oder hat zu lange gedauert. Beginnen Sie von vorn.',
    access_denied:
      'Die Anmeldung beim Anbieter wurde abgelehnt. Beginnen Sie von vorn und stimmen Sie dort zu.',
    sign_up_incomplete:
      'Der Anbieter hat nicht alles zurückgegeben, was ein Konto braucht. Registrieren Sie sich auf andere Weise.',
    account_not_linked: 'Sie haben kein Konto bei diesem Anbieter verknüpft. Verknüpfen Sie zuerst eines.',
    account_linked_elsewhere:
      'Dieses Konto ist mit einem anderen Benutzer verknüpft. Melden Sie sich als dieser Benutzer an und trennen Sie zuerst die Verknüpfung.',
    provider_already_linked:
      'Ein anderes Konto bei diesem Anbieter ist bereits verknüpft. Trennen Sie zuerst diese Verknüpfung.',
    provider_not_found: 'Diesen Anbieter gibt es nicht: Prüfen Sie seine ID.',
    provider_error: 'Der Anbieter hat nicht wie erwartet geantwortet. Versuchen Sie es später erneut.',
    provider_slow: 'Der Anbieter hat noch nicht geantwortet. Versuchen Sie es in ein paar Sekunden erneut.',
    refresh_token_missing:
      'Der Anbieter hat für dieses Konto kein Refresh-Token ausgestellt. Verknüpfen Sie das Konto erneut.',
    relink_required: 'Diese Tokens können nicht mehr verwendet werden. Verknüpfen Sie das Konto erneut.',

    // API keys.
    ambiguous_credentials:
      'Die Anfrage enthält einen API-Schlüssel und andere Anmeldedaten. Senden Sie nur eines von beiden.',
    invalid_api_key:
      'Der API-Schlüssel ist abgelaufen, wurde widerrufen oder hat nie existiert. Erstellen Sie einen neuen.',
    api_key_not_found: 'Sie haben keinen solchen API-Schlüssel. Möglicherweise wurde er bereits widerrufen.',
    too_many_api_keys:
      'Sie haben die Höchstzahl an API-Schlüsseln. Widerrufen Sie einen, den Sie nicht mehr brauchen.',

    // Organizations.
    organization_not_found: 'Diese Organisation gibt es nicht, oder Sie sind dort kein Mitglied.',
    member_not_found: 'Die Organisation hat kein solches Mitglied.',
    invitation_not_found:
      'Diese Einladung gibt es nicht. Möglicherweise wurde sie bereits angenommen oder widerrufen.',
    invitation_for_other_email:
      'Diese Einladung ist für eine andere E-Mail-Adresse. Melden Sie sich ab und öffnen Sie den Link noch einmal.',
    already_member: 'Dieser Benutzer ist bereits Mitglied der Organisation.',
    slug_taken: 'Eine andere Organisation hat diesen Kurznamen. Wählen Sie einen anderen.',
    last_owner:
      'Die Organisation hätte keinen Inhaber mehr, dessen Konto aktiv ist. Machen Sie zuerst ein anderes Mitglied zum Inhaber.',
    organization_full: 'Die Organisation hat die Höchstzahl an Mitgliedern.',
    organization_in_use:
      'Zu dieser Organisation gehören noch andere Daten. Entfernen Sie zuerst diese Daten.',
    too_many_organizations:
      'Sie sind Inhaber der Höchstzahl an Organisationen. Löschen Sie eine oder geben Sie die Rolle als Inhaber in einer auf.',
    too_many_invitations:
      'Die Organisation hat die Höchstzahl an ausstehenden Einladungen. Widerrufen Sie einige oder warten Sie, bis sie angenommen werden.',
  },

  phrases: {
    // Predicates, which follow the name of a field.
    required: 'fehlt',
    invalid: 'ist nicht gültig',
    'unknown-key': 'ist kein Feld dieser Anfrage',
    'wrong-type': ({ type }) => `muss vom Typ ${type} sein`,
    'too-short': ({ minimum, unit }) => `muss mindestens ${counted(minimum, unit)} haben`,
    'too-long': ({ maximum, unit }) => `darf höchstens ${counted(maximum, unit)} haben`,
    'too-small': ({ minimum }) => `muss mindestens ${minimum} sein`,
    'too-large': ({ maximum }) => `darf höchstens ${maximum} sein`,
    'malformed-text': 'muss wohlgeformtes Unicode ohne NUL-Zeichen sein',
    'not-one-of': ({ values }) => `muss einer dieser Werte sein: ${values.join(', ') || '(keiner)'}`,
    taken: 'ist bereits vergeben: Wählen Sie etwas anderes',
    'not-storable': 'hat einen Wert, der nicht gespeichert werden kann',

    // The fields of the app.
    'outside-pattern': 'muss dem Muster dieses Felds entsprechen',
    'not-a-date': 'muss ein Date in den Jahren 1 bis 9999 sein',
    'not-a-time': 'muss ein Zeitpunkt nach ISO 8601 sein, zum Beispiel 2026-01-31T12:00:00Z',
    'not-a-day': 'muss ein Tag sein, zum Beispiel 1815-12-10',
    'outside-years': 'muss in den Jahren 1 bis 9999 liegen',
    'not-json': 'muss ein Wert sein, den JSON darstellen kann',
    'json-null': 'darf nicht null sein',
    'json-too-deep': ({ maximum }) =>
      `darf höchstens ${plural(maximum, { one: `${maximum} Ebene`, other: `${maximum} Ebenen` })} tief verschachtelt sein`,
    'json-too-large': ({ maximum }) => `darf als JSON höchstens ${maximum} KiB groß sein`,
    'json-proto': 'darf keinen Schlüssel __proto__ haben',

    // Bodies and forms.
    'sent-twice': 'wurde mehr als einmal gesendet',
    'not-single': 'muss ein einzelner Wert sein',
    'not-checkboxes': 'muss Kontrollkästchen dieses Formulars nennen',
    'not-exactly-one': ({ values }) => `muss genau eines davon haben: ${values.join(', ')}`,
    'not-code-or-token': 'muss vorhanden sein, wenn es kein Token gibt, und nur dann',
    'only-together': ({ field }) => `wird nur zusammen mit ${field} akzeptiert`,
    'not-in-future': 'muss ein Zeitpunkt in der Zukunft sein, vor dem Jahr 10000',
    'not-confirmed': 'muss das sein, was die Seite verlangt',
    'other-account': 'gehört zu einem anderen Konto',

    // Emails and usernames.
    'invalid-email': 'muss eine E-Mail-Adresse wie ada@example.com sein',
    'internationalized-email':
      'ist eine internationalisierte Adresse mit anderen Zeichen als ASCII vor dem @, die nicht akzeptiert wird: Verwenden Sie eine Adresse in ASCII',
    'same-email': 'ist die E-Mail-Adresse, die das Konto schon hat',
    'email-not-accepted': 'wird nicht akzeptiert: Konten haben stattdessen einen Benutzernamen',
    'invalid-username':
      'muss aus 3 bis 30 Zeichen bestehen: Buchstaben von a bis z, Ziffern, Unterstrichen, Punkten und Bindestrichen',
    'username-not-allowed': ({ maximum }) =>
      `muss ein Name sein, den diese App erlaubt: höchstens ${maximum} Zeichen, ohne @ und ohne Leerzeichen am Anfang und am Ende`,
    'username-not-accepted': 'wird nicht akzeptiert: Benutzernamen sind nicht aktiviert',
    'enter-identifier': 'fehlt: Geben Sie eine E-Mail-Adresse, einen Benutzernamen oder beides ein',
    'user-without-identifier': 'fehlt: Ein Benutzer braucht eine E-Mail-Adresse oder einen Benutzernamen',
    'pass-identifier': 'fehlt: Übergeben Sie eine E-Mail-Adresse oder einen Benutzernamen',

    // Passwords.
    'password-too-common': 'ist eines der häufigsten Passwörter; wählen Sie ein anderes',
    'password-of-app-words':
      'beruht auf Wörtern, die hier leicht zu erraten sind; wählen Sie ein anderes Passwort',
    'password-breached': 'ist aus einem Datenleck bekannt; wählen Sie ein anderes Passwort',
    'password-is-email': 'darf nicht Ihre E-Mail-Adresse sein',
    'password-is-username': 'darf nicht Ihr Benutzername sein',
    'same-password': 'muss sich vom aktuellen Passwort unterscheiden',
    'invalid-password': ({ maximum }) =>
      `muss aus 1 bis ${maximum} Zeichen in wohlgeformtem Unicode ohne NUL bestehen`,

    // Passkeys, API keys, organizations, roles and the administration.
    'invalid-name': ({ maximum }) => `muss 1 bis ${maximum} sichtbare Zeichen lang sein`,
    'invalid-slug':
      'muss aus 2 bis 63 Kleinbuchstaben, Ziffern und einzelnen Bindestrichen bestehen, mit einem Buchstaben oder einer Ziffer beginnen und enden und darf nicht wie eine ID aussehen',
    'invalid-scopes': ({ maximum }) =>
      `muss aus ${plural(maximum, { one: `höchstens ${maximum} Wort`, other: `höchstens ${maximum} Wörtern` })} in sichtbaren ASCII-Zeichen bestehen, ohne Anführungszeichen und umgekehrte Schrägstriche`,
    'invalid-rights': 'muss some oder all sein',
    'not-roles': 'muss eine Liste von Rollen sein',
    'too-many-roles': ({ maximum }) =>
      `darf höchstens ${plural(maximum, { one: `${maximum} Rolle`, other: `${maximum} Rollen` })} enthalten`,
    'invalid-reason': ({ maximum }) => `muss aus 1 bis ${maximum} sichtbaren Zeichen bestehen`,
    'reason-too-long': ({ maximum }) =>
      `darf höchstens ${maximum} Zeichen in wohlgeformtem Unicode ohne NUL haben`,

    // The details of problems, which are whole sentences.
    'totp-locked':
      'Nach zu vielen falschen Codes werden Codes aus der Authenticator-App nicht mehr akzeptiert. Verwenden Sie einen Backup-Code oder einen Passkey oder wenden Sie sich an die Betreiber dieses Dienstes.',
    'totp-not-started':
      'Es gibt keine Authenticator-App zu bestätigen. Wenn die Einrichtung länger als 10 Minuten gedauert hat, beginnen Sie sie von vorn.',
    'no-passkey-yet': 'Sie haben keinen Passkey. Fügen Sie zuerst einen hinzu.',
    'unknown-browser':
      'Dieser Browser ist für Ihr Konto neu. Melden Sie sich erneut an: Sie erhalten eine E-Mail mit einem Code, der Ihre Identität bestätigt.',
    'no-authentication-time':
      'Dieser Anbieter teilt nicht mit, wann Sie sich dort angemeldet haben. Bestätigen Sie Ihr Passwort, verwenden Sie einen OpenID-Connect-Anbieter, der es mitteilt, oder melden Sie sich erneut an.',
    'provider-without-fields': ({ fields }) =>
      `Der Anbieter hat die erforderlichen Felder nicht zurückgegeben: ${fields.join(', ')}.`,
    'wrong-former-password':
      'Falsches Passwort. Geben Sie das Passwort ein, das das Konto vor dieser Änderung hatte.',
    'undo-without-email':
      'Die E-Mail-Adresse, die vor dieser Änderung galt, gehört zu einem anderen Konto. Ohne die Änderung hätte Ihr Konto deshalb keine Anmeldemethode mehr. Kontaktieren Sie den Support.',
    'no-such-session-of-user':
      'Dieser Benutzer hat keine solche Sitzung. Möglicherweise wurde sie bereits beendet.',
    'role-for-unproven-email':
      'Niemand hat nachgewiesen, dass die E-Mail-Adresse dieses Benutzers ihm gehört, der Benutzer könnte also jemand anderes sein. Bitten Sie den Benutzer, zuerst die E-Mail-Adresse zu bestätigen.',
    'account-incomplete': 'Das Konto ist unvollständig. Im Protokoll steht, wie Sie das beheben.',
    'schema-outdated':
      'Das Datenbankschema passt nicht zu dieser Version. Im Protokoll steht, wie Sie das beheben.',
  },

  refusal: {
    field: (name, detail) => `${name ?? 'Das Formular'} ${detail}`,
    wait: (time) => `Versuchen Sie es in ${time} erneut.`,
    // In the dative, after "zu".
    start: 'der Startseite',
    back: (link: Html) => html`Gehen Sie zurück zur vorherigen Seite oder zu ${link}.`,
  },
};
