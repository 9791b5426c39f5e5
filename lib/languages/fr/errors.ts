import { html } from '../../html.js';
import type { ErrorWords } from '../../words/catalogue.js';
import { pluralsIn } from '../../words/plural.js';

const plural = pluralsIn('fr');

const UNITS = {
  characters: { one: 'caractère', many: 'de caractères', other: 'caractères' },
  items: { one: 'élément', many: 'd’éléments', other: 'éléments' },
} as const;

/** Returns a number with its unit. */
function counted(count: number, unit: keyof typeof UNITS = 'characters'): string {
  return `${count} ${plural(count, UNITS[unit])}`;
}

/** What errors say in French. */
export const errors: ErrorWords = {
  problems: {
    invalid_json: 'Le corps n’est pas du JSON valide en UTF-8.',
    invalid_request: 'La requête est mal formée : vérifiez son chemin, ses paramètres et ses en-têtes.',
    invalid_callback_url:
      'callback_url doit être un chemin de cette application ou une URL d’une origine de confiance.',
    invalid_token: 'Le lien a expiré, a déjà été utilisé ou n’est pas valide. Demandez-en un nouveau.',
    unauthenticated: 'Connectez-vous d’abord : la requête ne comporte pas de session.',
    invalid_session: 'La session est terminée ou n’a jamais existé. Reconnectez-vous.',
    invalid_code: 'Le code est incorrect ou a déjà été utilisé. Vérifiez-le, ou saisissez-en un plus récent.',
    sign_in_expired: 'Cette connexion a pris trop de temps ou est déjà terminée. Recommencez.',
    invalid_credentials:
      'Le nom du compte ou le mot de passe est incorrect. Vérifiez les deux, puis réessayez.',
    admin_required: 'Seul un administrateur peut faire cela : connectez-vous en tant qu’administrateur.',
    permission_required: 'Vous n’avez pas l’autorisation nécessaire.',
    target_is_administrator:
      'Cet utilisateur est administrateur : ce n’est donc pas possible ici. Les personnes qui gèrent cette application le font dans sa configuration.',
    insufficient_scope: 'Il manque un scope nécessaire à ces identifiants : utilisez-en d’autres qui l’ont.',
    scope_required:
      'Ces identifiants sont limités à leurs scopes, et aucun scope n’autorise ce chemin : utilisez des identifiants sans scopes.',
    session_required: 'Cela nécessite une session : connectez-vous.',
    email_not_verified:
      'Confirmez d’abord votre adresse e-mail : ouvrez le lien de l’e-mail qui vous a été envoyé.',
    sign_up_refused:
      'Vous ne pouvez pas vous inscrire ici. Demandez un compte aux personnes qui gèrent cette application.',
    second_factor_required:
      'Cela nécessite votre deuxième facteur : fournissez-le avec POST /reauthenticate.',
    reauthentication_required:
      'Vous vous êtes connecté il y a trop longtemps. Confirmez votre identité, puis réessayez.',
    origin_not_allowed:
      'Cet envoi vient d’un autre site web, ou d’une adresse web qui n’est pas l’adresse habituelle de cette application. Ouvrez l’application à son adresse habituelle, puis réessayez.',
    user_not_found: 'Cet utilisateur n’existe pas : vérifiez l’identifiant.',
    session_not_found: 'Vous n’avez pas de telle session : elle est peut-être déjà terminée.',
    method_not_allowed: 'Ce chemin n’accepte pas cette méthode : voir Allow.',
    body_too_slow: 'Le corps a mis plus de 10 secondes à arriver. Renvoyez-le.',
    account_exists:
      'Il existe déjà un compte avec cette adresse e-mail. Connectez-vous à ce compte, puis réessayez.',
    email_taken:
      'Il existe déjà un compte avec cette adresse e-mail. Connectez-vous à ce compte, ou utilisez une autre adresse e-mail.',
    username_taken: 'Ce nom d’utilisateur est déjà pris. Choisissez-en un autre.',
    slug_taken: 'Une autre organisation a cette adresse. Choisissez-en une autre.',
    own_account: 'C’est votre propre compte : un autre administrateur doit le faire.',
    account_in_use: 'Le compte ne peut pas être supprimé, car d’autres données en dépendent.',
    last_sign_in_method: 'C’est votre seule méthode de connexion. Ajoutez-en d’abord une autre.',
    body_too_large: 'Le corps dépasse 16 Kio.',
    unsupported_media_type: 'Envoyez le corps en application/json, en UTF-8, sans compression.',
    validation_failed: 'Le corps n’est pas valide : voir errors.',
    rate_limited: 'Trop de tentatives. Réessayez plus tard.',
    mail_refused: 'Le serveur de messagerie refuse définitivement cet e-mail : vérifiez l’adresse.',
    unavailable: 'Le service est temporairement indisponible. Réessayez dans un instant.',

    code_expired: 'Ce code ne fonctionne plus ici. Demandez-en un autre.',
    no_passkey:
      'Le compte n’avait pas de clé d’accès depuis assez longtemps avant cette modification. Saisissez le mot de passe et le deuxième facteur d’avant la modification.',
    totp_not_enabled: 'Ce compte n’a pas de deuxième facteur. Configurez-en d’abord un.',
    second_factor_demanded:
      'Ce compte doit avoir un deuxième facteur. Configurez-en d’abord un autre, puis supprimez celui-ci.',
    human_check_failed:
      'Il n’a pas été possible de confirmer que cet envoi vient d’une personne. Rechargez la page, puis réessayez.',
    new_password_required:
      'Ce compte a besoin d’un nouveau mot de passe. Ouvrez le lien de l’e-mail qui vous a été envoyé, ou demandez un autre e-mail.',
    device_not_found: 'Votre compte ne connaît pas ce navigateur. Il l’a peut-être déjà oublié.',
    task_required: 'Vous devez d’abord accomplir une tâche : voir task.',
    acting_session:
      'Un administrateur agit en tant que cet utilisateur, ce qui ne permet pas cela. Cessez d’abord d’agir en tant que cet utilisateur : déconnectez-vous.',
    email_code_not_offered: 'Aucun code n’est envoyé par e-mail ici. Utilisez l’une de vos autres méthodes.',
    account_deleted:
      'Ce compte a été supprimé. Pendant un certain temps, il peut être restauré : avec le lien de l’e-mail sur la suppression, s’il y en a un, ou par les personnes qui gèrent cette application.',
    email_unproven:
      'Un compte a cette adresse e-mail, mais personne n’a prouvé qu’elle appartient à son utilisateur. Confirmez d’abord l’adresse e-mail, ou supprimez d’abord le compte.',
    proof_required:
      'Le lien seul ne suffit pas. Ouvrez-le dans un navigateur que le compte connaissait depuis un certain temps, et fournissez la preuve qu’une connexion exigeait avant cette modification. Voir missing.',

    invalid_flow:
      'Cette connexion n’a pas été commencée dans ce navigateur, est déjà terminée ou a pris trop de temps. Recommencez.',
    access_denied: 'La connexion a été refusée chez le fournisseur. Recommencez, et acceptez-la chez lui.',
    sign_up_incomplete:
      'Le fournisseur n’a pas transmis tout ce dont un compte a besoin. Inscrivez-vous autrement.',
    account_not_linked: 'Vous n’avez associé aucun compte de ce fournisseur. Associez-en d’abord un.',
    provider_not_found: 'Ce fournisseur n’existe pas : vérifiez son identifiant.',
    account_linked_elsewhere:
      'Ce compte est associé à un autre utilisateur. Connectez-vous d’abord en tant que cet utilisateur, et dissociez-le.',
    provider_already_linked: 'Un autre compte de ce fournisseur est déjà associé. Dissociez-le d’abord.',
    refresh_token_missing:
      'Le fournisseur n’a pas émis de jeton d’actualisation pour ce compte. Associez le compte à nouveau.',
    relink_required: 'Ces jetons ne peuvent plus être utilisés. Associez le compte à nouveau.',
    provider_error: 'Le fournisseur n’a pas répondu comme prévu. Réessayez plus tard.',
    provider_slow: 'Le fournisseur n’a pas encore répondu. Réessayez dans quelques secondes.',

    email_missing: 'Cet utilisateur n’a pas d’adresse e-mail à laquelle envoyer un lien.',

    invalid_passkey: 'La clé d’accès n’a pas pu être vérifiée, ou trop de temps s’est écoulé. Réessayez.',
    unknown_passkey:
      'Aucun compte n’a cette clé d’accès. Connectez-vous autrement, et supprimez la clé d’accès de votre appareil.',
    passkey_not_found: 'Vous n’avez pas de telle clé d’accès. Elle a peut-être déjà été supprimée.',
    passkey_exists:
      'Cette clé d’accès est déjà utilisée. Utilisez un autre appareil, ou connectez-vous avec cette clé d’accès.',
    too_many_passkeys:
      'Vous avez atteint le nombre maximal de clés d’accès. Supprimez-en une que vous n’utilisez plus.',

    ambiguous_credentials:
      'La requête présente une clé API et d’autres identifiants. N’envoyez que l’un des deux.',
    invalid_api_key: 'La clé API a expiré, a été révoquée ou n’a jamais existé. Créez-en une nouvelle.',
    api_key_not_found: 'Vous n’avez pas de telle clé API. Elle a peut-être déjà été révoquée.',
    too_many_api_keys:
      'Vous avez atteint le nombre maximal de clés API. Révoquez-en une dont vous n’avez plus besoin.',

    other_browser:
      'Ce lien ne fonctionne que dans le navigateur où vous l’avez demandé. Saisissez-y le code de l’e-mail.',

    password_not_set: 'Le compte n’a pas de mot de passe.',
    password_already_set: 'Le compte a déjà un mot de passe. Modifiez-le plutôt.',

    organization_not_found: 'Cette organisation n’existe pas, ou vous n’en êtes pas membre.',
    member_not_found: 'L’organisation n’a pas de tel membre.',
    invitation_not_found: 'Cette invitation n’existe pas. Elle a peut-être déjà été acceptée ou révoquée.',
    too_many_organizations:
      'Vous êtes propriétaire du nombre maximal d’organisations. Supprimez-en une, ou cessez d’être propriétaire de l’une d’elles.',
    already_member: 'Cet utilisateur est déjà membre de l’organisation.',
    organization_full: 'L’organisation a atteint le nombre maximal de membres.',
    last_owner:
      'L’organisation n’aurait plus de propriétaire dont le compte est actif. Donnez d’abord le rôle de propriétaire à un autre membre.',
    organization_in_use: 'D’autres données appartiennent encore à cette organisation. Supprimez-les d’abord.',
    too_many_invitations:
      'L’organisation a atteint le nombre maximal d’invitations en attente. Révoquez-en, ou attendez qu’elles soient acceptées.',
    invitation_for_other_email:
      'Cette invitation est destinée à une autre adresse e-mail. Déconnectez-vous, puis ouvrez à nouveau le lien.',

    account_suspended: 'Ce compte est suspendu. Contactez les personnes qui gèrent ce service.',
  },

  refusal: {
    field: (name, detail) => `${name ?? 'Le formulaire'} : ${detail}`,
    wait: (time) => `Réessayez dans ${time}.`,
    start: 'la page d’accueil',
    back: (link) => html`Revenez à la page précédente, ou à ${link}.`,
  },

  phrases: {
    // What is said of a field has no adjective that would have to agree with the field's name.
    required: 'valeur manquante',
    invalid: 'valeur non valide',
    'unknown-key': 'n’est pas un champ de cette requête',
    'wrong-type': ({ type }) => `doit être de type ${type}`,
    'too-short': ({ minimum, unit }) => `doit comporter au moins ${counted(minimum, unit)}`,
    'too-long': ({ maximum, unit }) => `doit comporter au plus ${counted(maximum, unit)}`,
    'too-small': ({ minimum }) => `doit valoir au moins ${minimum}`,
    'too-large': ({ maximum }) => `doit valoir au plus ${maximum}`,
    'malformed-text': 'doit être en Unicode bien formé, sans caractère NUL',
    'not-one-of': ({ values }) => `doit être l’une de ces valeurs : ${values.join(', ') || '(aucune)'}`,
    taken: 'valeur déjà prise : choisissez-en une autre',
    'not-storable': 'a une valeur qui ne peut pas être enregistrée',

    'outside-pattern': 'doit correspondre au format de ce champ',
    'not-a-date': 'doit être un objet Date, de l’an 1 à l’an 9999',
    'not-a-time': 'doit être une date et heure ISO 8601, par exemple 2026-01-31T12:00:00Z',
    'not-a-day': 'doit être un jour, par exemple 1815-12-10',
    'outside-years': 'doit se situer entre l’an 1 et l’an 9999',
    'not-json': 'doit être une valeur que JSON peut représenter',
    'json-null': 'ne doit pas être null',
    'json-too-deep': ({ maximum }) =>
      `doit avoir au plus ${maximum} ${plural(maximum, { one: 'niveau', many: 'de niveaux', other: 'niveaux' })} d’imbrication`,
    'json-too-large': ({ maximum }) => `doit faire au plus ${maximum} Kio en JSON`,
    'json-proto': 'ne doit pas avoir de clé __proto__',

    'sent-twice': 'ne doit pas être envoyé plus d’une fois',
    'not-single': 'doit être une valeur unique',
    'not-checkboxes': 'doit désigner des cases à cocher de ce formulaire',
    'not-exactly-one': ({ values }) => `doit avoir exactement un de ces champs : ${values.join(', ')}`,
    'not-code-or-token': 'est nécessaire s’il n’y a pas de token, et seulement dans ce cas',
    'only-together': ({ field }) => `n’est possible qu’avec ${field}`,
    'not-in-future': 'doit être une date et heure à venir, avant l’an 10000',
    'not-confirmed': 'doit être ce que la page demande',
    'other-account': 'appartient à un autre compte',

    'invalid-email': 'doit être une adresse e-mail, par exemple ada@example.com',
    'internationalized-email':
      'est une adresse internationalisée, avec des caractères non ASCII avant le @, ce qui n’est pas accepté : utilisez une adresse en ASCII',
    'same-email': 'est l’adresse e-mail que le compte a déjà',
    'email-not-accepted':
      'n’est pas possible ici : les comptes ont un nom d’utilisateur au lieu d’une adresse e-mail',
    'invalid-username':
      'doit comporter de 3 à 30 caractères : lettres de a à z, chiffres, tirets bas, points et traits d’union',
    'username-not-allowed': ({ maximum }) =>
      `doit être un nom que cette application autorise : au plus ${counted(maximum)}, sans @ et sans espaces au début ni à la fin`,
    'username-not-accepted': 'n’est pas possible ici : les noms d’utilisateur ne sont pas activés',
    'enter-identifier': 'valeur manquante : saisissez une adresse e-mail, un nom d’utilisateur ou les deux',
    'user-without-identifier':
      'valeur manquante : un utilisateur a besoin d’une adresse e-mail ou d’un nom d’utilisateur',
    'pass-identifier': 'valeur manquante : fournissez une adresse e-mail ou un nom d’utilisateur',

    'password-too-common': 'fait partie des mots de passe les plus courants : choisissez-en un autre',
    'password-of-app-words': 'repose sur des mots faciles à deviner ici : choisissez un autre mot de passe',
    'password-breached': 'figure dans une fuite de données connue : choisissez un autre mot de passe',
    'password-is-email': 'ne doit pas être votre adresse e-mail',
    'password-is-username': 'ne doit pas être votre nom d’utilisateur',
    'same-password': 'doit être différent du mot de passe actuel',
    'invalid-password': ({ maximum }) =>
      `doit comporter de 1 à ${counted(maximum)} d’Unicode bien formé, sans NUL`,

    'invalid-name': ({ maximum }) => `doit comporter de 1 à ${visible(maximum)}`,
    'invalid-slug':
      'doit comporter de 2 à 63 lettres minuscules, chiffres et traits d’union isolés, commencer et se terminer par une lettre ou un chiffre, et ne pas ressembler à un identifiant',
    'invalid-scopes': ({ maximum }) =>
      `doit comporter au plus ${maximum} ${plural(maximum, { one: 'mot', many: 'de mots', other: 'mots' })} en caractères ASCII visibles, sans guillemets ni barres obliques inverses`,
    'invalid-rights': 'doit être some ou all',
    'not-roles': 'doit être une liste de rôles',
    'too-many-roles': ({ maximum }) =>
      `doit contenir au plus ${maximum} ${plural(maximum, { one: 'rôle', many: 'de rôles', other: 'rôles' })}`,
    'invalid-reason': ({ maximum }) => `doit comporter de 1 à ${visible(maximum)}`,
    'reason-too-long': ({ maximum }) =>
      `doit comporter au plus ${counted(maximum)} d’Unicode bien formé, sans NUL`,

    'totp-locked':
      'Après trop de codes incorrects, les codes de l’application d’authentification ne sont plus acceptés. Utilisez un code de récupération ou une clé d’accès, ou demandez de l’aide aux personnes qui gèrent ce service.',
    'totp-not-started':
      'Il n’y a aucune application d’authentification à confirmer. Si la configuration a pris plus de 10 minutes, recommencez-la.',
    'no-passkey-yet': 'Vous n’avez pas de clé d’accès. Ajoutez-en d’abord une.',
    'unknown-browser':
      'Ce navigateur est nouveau pour votre compte. Reconnectez-vous : vous recevrez par e-mail un code qui confirmera votre identité.',
    'no-authentication-time':
      'Ce fournisseur n’indique pas quand vous vous êtes connecté chez lui. Confirmez votre mot de passe, utilisez un fournisseur OpenID Connect qui l’indique, ou reconnectez-vous.',
    'provider-without-fields': ({ fields }) =>
      `Le fournisseur n’a pas transmis les champs obligatoires : ${fields.join(', ')}.`,
    'wrong-former-password':
      'Mot de passe incorrect. Saisissez le mot de passe que le compte avait avant cette modification.',
    'undo-without-email':
      'Un autre compte a l’adresse e-mail d’avant cette modification : l’annuler laisserait donc votre compte sans moyen de se connecter. Contactez l’assistance.',
    'no-such-session-of-user': 'Cet utilisateur n’a pas de telle session. Elle est peut-être déjà terminée.',
    'role-for-unproven-email':
      'Personne n’a prouvé que l’adresse e-mail de cet utilisateur lui appartient : il pourrait donc s’agir de quelqu’un d’autre. Demandez d’abord à l’utilisateur de confirmer l’adresse e-mail.',
    'account-incomplete': 'Le compte est incomplet. Consultez le journal pour savoir comment y remédier.',
    'schema-outdated':
      'Le schéma de la base de données ne correspond pas à cette version. Consultez le journal pour savoir comment y remédier.',
  },
};

/** Returns the maximum number of visible characters. */
function visible(maximum: number): string {
  return `${counted(maximum)} ${plural(maximum, { one: 'visible', other: 'visibles' })}`;
}
