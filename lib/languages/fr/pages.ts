import { type Html, html } from '../../html.js';
import type { PageWords } from '../../words/pages/index.js';
import { pluralsIn } from '../../words/plural.js';

const plural = pluralsIn('fr');

/** The sentence about a password that the user cannot sign in with yet. */
function unusable(hasPassword: boolean, missing: string): string {
  return hasPassword
    ? `Vous ne pouvez pas encore vous connecter avec votre mot de passe. Ajoutez d’abord ${missing} dans votre profil.`
    : `Votre compte n’a pas de mot de passe. Pour en définir un, ajoutez d’abord ${missing} dans votre profil.`;
}

/** The error of a request that a page does not send, unless someone has changed it. */
const unexpected = 'Cela n’a pas fonctionné. Rechargez la page, puis réessayez.';

/** What every page says of an emailed code that is used up. */
const codeOver =
  'Ce code ne fonctionne plus : il a expiré, a déjà été utilisé, ou un code incorrect a été saisi trop souvent. Demandez un autre code.';

/** What it says of the code of an authenticator app. It does not say which it is, because that is a hint for attackers. */
const wrongTotp = 'Ce code est incorrect ou a déjà été utilisé. Vérifiez-le, ou attendez le code suivant.';

/** What it says besides, where a sign-in before the email is confirmed is rejected in the same way. */
const unconfirmed =
  ', ou l’adresse e-mail n’est pas encore confirmée. Si vous venez de vous inscrire, ouvrez le lien que nous vous avons envoyé par e-mail.';

/** What is said of an empty password where only that of one account proves who it is. */
const ownPassword = 'Saisissez le mot de passe de ce compte.';

const wrongSlug =
  'Saisissez de 2 à 63 lettres minuscules, chiffres et traits d’union isolés, avec une lettre ou un chiffre au début et à la fin.';

const unknownRole = 'Choisissez un rôle de cette liste. Elle a peut-être changé : rouvrez cette page.';

/** The words of the pages in French. */
export const pages: PageWords = {
  titleOf: (title: string, appName: string) => `${title} – ${appName}`,
  skip: 'Aller au contenu',
  navigation: 'Compte',
  backTo: (appName: string) => `Retour à ${appName}`,
  signedInAs: 'Connecté en tant que',
  terms: 'Conditions',
  privacy: 'Confidentialité',
  support: 'Assistance',
  optional: 'facultatif',
  /** What stands between the names of a list. */
  comma: ', ',
  /** A value with its label. */
  labeled: (label: string, value: Html | string) => html`${label} : ${value}`,
  /** Turns the predicate of a field's error into a sentence, which stands below the label of the field. */
  sentenceOf: (predicate: string) => `${predicate.charAt(0).toUpperCase()}${predicate.slice(1)}.`,
  /** The words of a button, and what it is about, such as "Retirer" and "Ada". */
  actionOf: (action: string, about: string) => `${action} ${about}`,
  answerOf: (answer, about) => `${answer} : ${about}`,
  yes: 'Oui',
  no: 'Non',
  notSet: 'Non défini',
  choose: 'Choisir…',
  /** The hints about the range of a number. */
  range: {
    between: (minimum: number, maximum: number) => `De ${minimum} à ${maximum}.`,
    from: (minimum: number) => `Au moins ${minimum}.`,
    to: (maximum: number) => `Au plus ${maximum}.`,
  },
  deviceOn: (browser: string, system: string) => `${browser} sur ${system}`,
  /** A browser that is unknown. */
  browserOn: (system: string) => `Un navigateur sur ${system}`,
  inUtc: (label: string) => `${label} (UTC)`,
  lastUsed: 'dernière utilisation',
  continue: 'Continuer',
  sendAgain: 'Renvoyer l’e-mail',
  sentAgain: (email: Html, isCertain: boolean) =>
    html`${isCertain ? html`Un autre e-mail est en route vers ${email}` : html`S’il existe un compte avec ${email}, un autre e-mail est en route`}. Si aucun n’arrive, utilisez le plus récent que vous avez reçu.`,
  /** What stands above the button that has to be pressed again, and on top of its page. */
  pressAgain: 'Rien n’a encore été fait. Appuyez à nouveau sur le bouton.',
  confirmed: (button: Html) => html`Vous avez confirmé votre identité. Continuez avec « ${button} ».`,
  or: 'ou',
  close: 'Fermer',
  cancel: 'Annuler',
  /** What the button that closes a part says after "Fermer", for screen readers. */
  ofClose: (action: string) => ` : ${action.charAt(0).toLowerCase()}${action.slice(1)}`,

  fields: {
    email: 'Adresse e-mail',
    username: 'Nom d’utilisateur',
    either: 'Adresse e-mail ou nom d’utilisateur',
    password: 'Mot de passe',
    currentPassword: 'Mot de passe actuel',
    newPassword: 'Nouveau mot de passe',
    newEmail: 'Nouvelle adresse e-mail',
    remember: 'Rester connecté sur cet appareil',
    code: 'Code',
    recoveryCode: 'Code de récupération',
    name: 'Nom',
    language: 'Langue',
    /** The choice of the language that the browser asks for. */
    anyLanguage: 'La langue du navigateur',
    languageHint: 'La langue de ces pages et de nos e-mails.',
  },
  confirmation: {
    label: (text: string) => `Pour confirmer, saisissez : ${text}`,
    /** What users without an email and a username type. */
    word: 'supprimer',
  },
  /** The words for browsers that cannot be checked, because they run no scripts. */
  human: {
    noScript: 'Ce navigateur ne peut pas être vérifié, car il n’exécute pas de scripts.',
    otherWays: (ways: string) => `Vous pouvez toujours vous connecter avec ${ways}.`,
    turnOn: 'Activez JavaScript, puis rechargez cette page.',
    password: 'votre mot de passe',
    email: 'un code que nous vous envoyons par e-mail',
    list: (ways: readonly string[]) => new Intl.ListFormat('fr', { type: 'disjunction' }).format(ways),
  },
  copy: 'Copier',
  copied: 'Copié',
  passwordHint: (length: number) =>
    `Au moins ${length} caractères. Quelques mots choisis au hasard sont un bon choix.`,

  usernameHint: 'De 3 à 30 caractères : lettres de a à z, chiffres, tirets bas, points et traits d’union.',
  /** The hint of a password that has to be typed again, because something else in its form was wrong. */
  passwordAgain: 'Saisissez à nouveau le mot de passe.',

  /** The words for the scripts, which read them from the head of the document. */
  scripts: {
    failed: 'Le formulaire n’a pas pu être envoyé. Vérifiez le réseau, puis réessayez.',
    broken: 'Un problème est survenu. Réessayez dans un instant.',
    unsaved: 'Pas encore enregistré.',
    show: 'Afficher',
    hide: 'Masquer',
    /** What the two buttons say to screen readers. */
    showOf: 'Afficher : {field}',
    hideOf: 'Masquer : {field}',
    passkeys: {
      failed: 'La clé d’accès n’a pas pu être utilisée. Réessayez.',
      offline: 'Cela n’a pas fonctionné. Vérifiez le réseau, puis réessayez.',
      NotAllowedError:
        'Aucune clé d’accès n’a été utilisée. La demande a été annulée ou a pris trop de temps, ou cet appareil n’a pas de clé d’accès pour ce site.',
      InvalidStateError: 'Cet appareil a déjà une clé d’accès pour votre compte.',
      NotSupportedError:
        'Cet appareil ne peut pas utiliser de clés d’accès. Essayez avec un téléphone ou un gestionnaire de mots de passe.',
      SecurityError: 'Les clés d’accès ne fonctionnent pas à cette adresse web.',
      /** The words about signing in with a passkey that differ. The codes are those of the server's errors. */
      'sign-in': {
        invalid_passkey:
          'Cette clé d’accès n’appartient plus à un compte ici, ou trop de temps s’est écoulé. Réessayez, ou connectez-vous autrement.',
      },
      /** The words about adding a passkey that differ. */
      create: {
        NotAllowedError:
          'Aucune clé d’accès n’a été ajoutée. La demande a été annulée ou a pris trop de temps.',
      },
    },
  },

  names: {
    account: 'Profil',
    'account/security': 'Sécurité',
    'account/sessions': 'Sessions',
    'account/api-keys': 'Clés API',
    'account/organizations': 'Organisations',
    'administration/users': 'Utilisateurs',
  },

  signIn: {
    title: 'Se connecter',
    titleOf: (appName: string) => `Se connecter à ${appName}`,
    submit: 'Se connecter',
    already: 'Vous êtes déjà connecté',
    byEmail: 'Recevoir un code par e-mail',
    byEmailHint:
      'Nous vous enverrons par e-mail un code pour vous connecter. Vous n’avez pas besoin de mot de passe.',
    byPasskey: 'Se connecter avec une clé d’accès',
    continueWith: (provider: string) => `Continuer avec ${provider}`,
    forgotten: 'Mot de passe oublié ?',
    restorable: (date: Html) =>
      html`Votre compte a été supprimé. Jusqu’au ${date}, le lien de notre e-mail permet de le restaurer.`,
    noAccount: 'Pas encore de compte ?',
    signUp: 'Créer un compte',
  },
  signUp: {
    title: 'Créer un compte',
    submit: 'Créer un compte',
    byEmail: 'Recevoir plutôt un code par e-mail',
    byEmailHint: 'Avec un code, vous n’avez pas besoin de mot de passe.',
    byEmailAlone: 'Recevoir un code par e-mail',
    either: (resets: boolean) =>
      `Saisissez une adresse e-mail, un nom d’utilisateur ou les deux.${resets ? ' Sans adresse e-mail, vous ne pouvez pas réinitialiser un mot de passe oublié.' : ''}`,
    haveAccount: 'Vous avez déjà un compte ?',
    closed:
      'Vous ne pouvez pas vous inscrire ici. Demandez un compte aux personnes qui gèrent cette application.',
    closedAsk: 'Vous ne pouvez pas vous inscrire ici. Pour obtenir un compte, demandez-en un :',
    checkMail: 'Consultez vos e-mails',
    checkMailText: (address: Html | string) =>
      html`Nous avons envoyé un e-mail à ${address}. S’il n’y a pas encore de compte avec cette adresse, ouvrez le lien de l’e-mail, puis connectez-vous. S’il y en a un, l’e-mail indique quoi faire. Vérifiez aussi vos courriers indésirables.`,
    confirmText: (address: Html | string) =>
      html`Nous avons envoyé un lien par e-mail à ${address}. Ouvrez-le, puis connectez-vous. Vérifiez aussi vos courriers indésirables.`,
  },
  signOut: {
    title: 'Se déconnecter',
    question: (account: string | null) =>
      account === null ? 'Voulez-vous vous déconnecter ?' : `Vous êtes connecté en tant que ${account}.`,
    submit: 'Se déconnecter',
    stay: 'Rester connecté',
  },
  passkeyOffer: {
    title: 'Connectez-vous sans mot de passe la prochaine fois',
    text: 'Créez une clé d’accès. Ensuite, le verrouillage d’écran de cet appareil suffit pour vous connecter.',
    create: 'Créer une clé d’accès',
    later: 'Pas maintenant',
  },
  secondFactor: {
    title: 'Confirmer votre identité',
    account: (account: string) => `Vous vous connectez en tant que ${account}.`,
    totp: 'Saisissez le code affiché par votre application d’authentification.',
    emailCode: (email: Html, digits: number) =>
      html`Nous avons envoyé à ${email} un code à ${digits} chiffres, car ce navigateur est nouveau pour votre compte. Vérifiez aussi vos courriers indésirables.`,
    verifyCode: (email: Html, digits: number) =>
      html`Nous avons envoyé à ${email} un code à ${digits} chiffres. Saisissez-le pour confirmer que l’adresse e-mail est la vôtre. Vérifiez aussi vos courriers indésirables.`,
    passkey: (wasPassword: boolean) =>
      wasPassword
        ? 'Votre mot de passe est correct. Utilisez maintenant votre clé d’accès.'
        : 'Encore une étape : utilisez votre clé d’accès.',
    recoveryHint:
      'L’un des codes que vous avez enregistrés en activant l’authentification à deux facteurs. Chaque code ne fonctionne qu’une fois.',
    submit: 'Continuer',
    trust: (days: number) =>
      `Ne plus demander dans ce navigateur pendant ${days} ${plural(days, { one: 'jour', many: 'de jours', other: 'jours' })}`,
    useRecovery: 'Utiliser un code de récupération',
    submitRecovery: 'Utiliser le code de récupération',
    usePasskey: 'Utiliser une clé d’accès',
    wrongAddress: {
      question: 'Adresse e-mail incorrecte ?',
      signUpAgain: 'Inscrivez-vous à nouveau avec la bonne',
      orSupport: (link: Html) => html` ou contactez l’assistance : ${link}`,
      support: (link: Html) => html`Contactez l’assistance : ${link}`,
    },
    lost: (support: Html | null, appName: string) =>
      support === null
        ? `Si vous avez perdu votre téléphone et vos codes de récupération, demandez de l’aide aux personnes qui gèrent ${appName}.`
        : html`Si vous avez perdu votre téléphone et vos codes de récupération, demandez de l’aide : ${support}`,
    expires: 'Vous avez 10 minutes. Passé ce délai, reconnectez-vous.',
    expired: 'Il n’y a aucune connexion à confirmer. Elle a peut-être expiré. Reconnectez-vous.',
    cancel: 'Se connecter avec un autre compte',
  },
  reauthenticate: {
    title: 'Confirmer votre identité',
    lead: 'Pour votre sécurité, confirmez votre identité avant de continuer.',
    leadTo: (what: string) => `Pour ${what}, confirmez votre identité.`,
    /** What the forms do that need a recent sign-in, by their pages and names. */
    actions: {
      'account/profile': 'enregistrer votre profil',
      'account/username': 'modifier votre nom d’utilisateur',
      'account/email': 'modifier votre adresse e-mail',
      'account/download': 'télécharger vos données',
      'account/delete': 'supprimer votre compte',
      'account/api-keys/create': 'créer une clé API',
      'account/organizations/organization/set-role': 'modifier le rôle de ce membre',
      'account/organizations/organization/remove': 'retirer ce membre',
      'account/organizations/organization/invite': 'inviter quelqu’un',
      'account/organizations/organization/delete': 'supprimer cette organisation',
      'account/security/change-password': 'modifier votre mot de passe',
      'account/security/set-password': 'définir un mot de passe',
      'account/security/remove-password': 'supprimer votre mot de passe',
      'account/security/set-up-app': 'configurer une application d’authentification',
      'account/security/disable-app': 'retirer l’application d’authentification',
      'account/security/renew-codes': 'obtenir de nouveaux codes de récupération',
      'account/security/use-passkeys': 'modifier votre deuxième étape',
      'account/security/remove-passkey': 'supprimer cette clé d’accès',
      'account/security/unlink': 'dissocier ce compte',
      'account/security/forget-browser': 'oublier ce navigateur',
      'account/security/start-over': 'recommencer avec une autre adresse e-mail',
      'account/security/second-factor/confirm-app': 'activer l’authentification à deux facteurs',
      'administration/users/create': 'créer un utilisateur',
      'administration/users/user/edit': 'modifier cet utilisateur',
      'administration/users/user/delete': 'supprimer cet utilisateur',
      'administration/users/user/roles': 'modifier les rôles de cet utilisateur',
      'administration/users/user/suspend': 'suspendre cet utilisateur',
      'administration/users/user/reinstate': 'lever la suspension',
    },
    emailCode: (email: Html) => html`Nous allons envoyer un code par e-mail à ${email}.`,
    send: 'Recevoir un code par e-mail',
    sendAgain: 'Recevoir un autre code',
    sent: (email: Html, digits: number, time: string) =>
      html`Nous avons envoyé à ${email} un code à ${digits} chiffres. Il est valable ${time}. Vérifiez aussi vos courriers indésirables.`,
    none: 'Cette page ne peut pas confirmer votre identité. Déconnectez-vous, puis reconnectez-vous.',
    submit: 'Confirmer',
    cancel: 'Annuler',
  },
  forgotPassword: {
    title: 'Réinitialiser votre mot de passe',
    lead: 'Saisissez l’adresse e-mail de votre compte. Nous vous enverrons par e-mail un lien pour choisir un nouveau mot de passe.',
    submit: 'Recevoir un lien par e-mail',
    codeLead:
      'Saisissez l’adresse e-mail de votre compte. Nous vous enverrons par e-mail un code pour choisir un nouveau mot de passe.',
    codeSubmit: 'Recevoir un code par e-mail',
    sent: 'Consultez vos e-mails',
    sentText: (address: Html | string) =>
      html`S’il existe un compte avec ${address}, un e-mail contenant un lien est en route. Le lien expire au bout d’une heure. Vérifiez aussi vos courriers indésirables.`,
    anyAddress: 'cette adresse',
    again: 'Recevoir un autre lien',
    back: 'Retour à la connexion',
  },
  resetPassword: {
    title: 'Choisir un nouveau mot de passe',
    invitationTitle: 'Accepter votre invitation',
    lead: (account: Html) => html`Choisissez un mot de passe pour ${account}.`,
    ends: 'Un nouveau mot de passe met fin à toutes les sessions du compte.',
    submit: 'Enregistrer le mot de passe',
    invitationSubmit: 'Créer le mot de passe',
    invalid: 'Ce lien n’est plus valable',
    invalidText:
      'Il a déjà été utilisé ou il a expiré. Si vous avez déjà choisi un nouveau mot de passe, utilisez-le pour vous connecter.',
    invitationInvalidText:
      'Il a déjà été utilisé ou il a expiré. Si vous avez déjà créé votre mot de passe, utilisez-le pour vous connecter. Sinon, demandez un autre lien aux personnes qui vous ont invité.',
    again: 'Recevoir un nouveau lien',
    codeLead:
      'S’il existe un compte avec votre adresse e-mail, nous vous avons envoyé un code par e-mail. Saisissez-le ici.',
    codeSentTo: (email: Html, digits: number, time: string) =>
      html`S’il existe un compte avec ${email}, nous y avons envoyé un code à ${digits} chiffres. Il est valable ${time}. Vérifiez aussi vos courriers indésirables.`,
    codeAgain: 'Recevoir un autre code',
    codeOther: 'Utiliser une autre adresse e-mail',
    codeFirst: 'Demandez d’abord un code',
    codeFirstText:
      'Saisissez l’adresse e-mail de votre compte, et nous vous enverrons par e-mail un code pour choisir un nouveau mot de passe.',
  },
  join: {
    title: (organization: string) => `Rejoindre ${organization}`,
    lead: (organization: string) => `Vous avez reçu une invitation à rejoindre ${organization}.`,
    leadBy: (inviter: Html, organization: string) =>
      html`${inviter} vous invite à rejoindre ${organization}.`,
    email: 'Adresse e-mail invitée',
    role: 'Votre rôle',
    expires: 'Valable jusqu’au',
    submit: (organization: string) => `Rejoindre ${organization}`,
    task: 'Il reste une étape avant de pouvoir rejoindre l’organisation.',
    otherEmail: (email: Html, account: string | null) =>
      account === null
        ? html`L’invitation est destinée à ${email}, qui n’est pas l’adresse e-mail de votre compte. Déconnectez-vous, puis continuez avec l’adresse invitée.`
        : html`L’invitation est destinée à ${email}, mais vous êtes connecté en tant que ${account}. Déconnectez-vous, puis continuez avec l’adresse invitée.`,
    signOut: 'Se déconnecter et continuer',
    signIn: (email: Html) =>
      html`Il existe un compte avec ${email}. Connectez-vous à ce compte : vous reviendrez ici pour rejoindre l’organisation.`,
    signInFirst: (email: Html) =>
      html`Il n’y a pas encore de compte avec ${email}. Continuez pour en créer un : vous reviendrez ici pour rejoindre l’organisation.`,
    createAccount: (email: Html) =>
      html`Il n’y a pas encore de compte avec ${email}. Créez-en un pour rejoindre l’organisation.`,
    submitSignUp: (organization: string) => `Créer le compte et rejoindre ${organization}`,
    otherWay: 'Rejoindre sans mot de passe',
    afterwards: (organization: string) => `Vous pourrez ensuite rejoindre ${organization}.`,
    joined: (organization: string) => `Vous êtes maintenant membre de ${organization}.`,
    already: (organization: string) => `Vous êtes déjà membre de ${organization}`,
    open: (organization: string) => `Accéder à ${organization}`,
    signUpFirst: (email: Html) =>
      html`Il n’y a pas encore de compte avec ${email}. Créez-en un avec cette adresse, puis ouvrez à nouveau le lien de l’invitation.`,
    closed: (email: Html) =>
      html`Il n’y a pas encore de compte avec ${email}, et vous ne pouvez pas en créer un ici. Demandez un compte aux personnes qui gèrent cette application, puis ouvrez à nouveau le lien de l’e-mail.`,
    closedAsk: (email: Html) =>
      html`Il n’y a pas encore de compte avec ${email}, et vous ne pouvez pas en créer un ici. Pour en obtenir un, demandez de l’aide :`,
    nothing: 'Si vous ne souhaitez pas rejoindre l’organisation, vous n’avez rien à faire.',
    invalid: 'Cette invitation n’est plus valable',
    invalidText:
      'Elle a déjà été utilisée, remplacée par un e-mail plus récent ou révoquée, ou elle a expiré. Ouvrez le lien de l’e-mail le plus récent, ou demandez une autre invitation à la personne qui vous a invité.',
    withoutLink: 'Ouvrez le lien de l’e-mail',
    withoutLinkText: 'Pour rejoindre une organisation, ouvrez le lien de l’e-mail qui vous y invite.',
    organizations: 'Vos organisations',
  },
  verifyEmail: {
    title: 'Confirmer votre adresse e-mail',
    lead: (account: string) => `Confirmez que ${account} est votre adresse e-mail.`,
    password: 'Saisissez le mot de passe de ce compte pour montrer qu’il est à vous.',
    submit: 'Confirmer',
    invalid: 'Ce lien n’est plus valable',
    invalidText:
      'Il a déjà été utilisé ou il a expiré. Si vous avez déjà confirmé votre adresse e-mail, connectez-vous simplement.',
    invalidHere: 'Il a déjà été utilisé ou il a expiré. Vous pouvez en obtenir un nouveau.',
    waiting: 'Confirmez d’abord votre adresse e-mail',
    waitingText: (address: Html | string) =>
      html`Ouvrez le lien que nous avons envoyé à ${address}, puis connectez-vous. Vérifiez aussi vos courriers indésirables.`,
    waitingAgain: 'Pour obtenir un nouveau lien, reconnectez-vous.',
    perhapsSent:
      'Si nous vous avons envoyé un lien par e-mail, ouvrez-le, puis connectez-vous. Pour obtenir un nouveau lien, connectez-vous.',
    waitingHere: (address: Html | string) =>
      html`Ouvrez le lien que nous avons envoyé à ${address}. Vérifiez aussi vos courriers indésirables.`,
    anyAddress: 'votre adresse e-mail',
    done: 'Votre adresse e-mail est confirmée',
    doneFor: (email: string) => `L’adresse ${email} est confirmée.`,
    doneText: (account: string) => `Vous êtes connecté en tant que ${account}.`,
    send: 'Recevoir un nouveau lien',
    codeFirst: (email: Html | string) =>
      html`Nous allons envoyer un code à ${email}. Saisissez-le ici pour confirmer que l’adresse est la vôtre.`,
    codeSentTo: (email: Html | string, digits: number, time: string) =>
      html`Nous avons envoyé à ${email} un code à ${digits} chiffres. Il est valable ${time}. Vérifiez aussi vos courriers indésirables.`,
    codeSignUp: (email: Html | string, digits: number, time: string) =>
      html`S’il n’y a pas encore de compte avec ${email}, nous y avons envoyé un code à ${digits} chiffres. Il est valable ${time}. Vérifiez aussi vos courriers indésirables.`,
    codeSend: 'Recevoir un code par e-mail',
    codeSendNew: 'Recevoir un nouveau code',
    codeSignIn:
      'Connectez-vous, et nous vous enverrons par e-mail un code pour confirmer votre adresse e-mail.',
    later: 'Pas maintenant',
  },
  changeEmail: {
    title: 'Confirmer votre nouvelle adresse e-mail',
    lead: (email: string) => `Utilisez ${email} comme adresse e-mail de votre compte.`,
    account: (account: string) => `Votre adresse e-mail actuelle est ${account}.`,
    elsewhere: 'Ouvrez ce lien là où vous êtes connecté',
    elsewhereText:
      'Copiez le lien de cette page, et ouvrez-le dans le navigateur où vous êtes connecté au compte. Là, aucun mot de passe n’est nécessaire.',
    password: 'Ou saisissez ici le mot de passe du compte, s’il en a un.',
    submit: 'Utiliser cette adresse e-mail',
    invalid: 'Ce lien n’est plus valable',
    invalidText:
      'Il a déjà été utilisé, il a expiré, il a été annulé, ou votre compte a changé depuis. Un e-mail plus récent l’a peut-être remplacé : dans ce cas, ouvrez le lien du plus récent. Si vous avez déjà confirmé votre nouvelle adresse e-mail, connectez-vous simplement avec celle-ci.',
    invalidHere: (email: string) =>
      `Il a déjà été utilisé, il a expiré, il a été annulé, ou votre compte a changé depuis. Un e-mail plus récent l’a peut-être remplacé : dans ce cas, ouvrez le lien du plus récent. L’adresse e-mail de votre compte est ${email}.`,
    signsOut: 'Vous serez déconnecté partout.',
    signsOutOthers: 'Vous serez déconnecté de tous les autres appareils.',
    done: 'Votre adresse e-mail a été modifiée',
    doneText: (email: string) => `Votre adresse e-mail est maintenant ${email}.`,
    doneElsewhere: 'Vos sessions sont terminées. Connectez-vous avec la nouvelle adresse e-mail.',
  },
  undoChange: {
    title: 'Annuler une modification',
    what: (change: string) => `${change}.`,
    emailChanged: (from: string, to: string) => `L’adresse e-mail ${from} a été remplacée par ${to}.`,
    account: 'Compte',
    when: 'Date',
    device: 'Appareil',
    unknownDevice: 'Un appareil inconnu',
    lead: 'Si ce n’était pas vous, annulez cette modification. Cela annule aussi toutes les modifications ultérieures du compte et met fin à toutes les sessions.',
    removes: 'Votre mot de passe sera supprimé, et vous en choisirez un nouveau par e-mail.',
    done: 'La modification a été annulée',
    choose: (email: Html) =>
      html`Choisissez un nouveau mot de passe avec le lien que nous avons envoyé par e-mail à ${email}. Vérifiez aussi vos courriers indésirables.`,
    ended: 'Toutes les sessions sont terminées.',
    password: 'Votre mot de passe d’avant la modification',
    passwordHint: '',
    code: 'Code de votre application d’authentification, ou code de récupération',
    codeHint: 'Utilisez l’application ou les codes de récupération que vous aviez avant la modification.',
    submit: 'Annuler la modification',
    withPasskey: 'L’annuler avec votre clé d’accès',
    nothing: 'Si c’était vous, vous n’avez rien à faire.',
    otherBrowser: 'Ouvrez ce lien dans un navigateur que votre compte connaît',
    otherBrowserText:
      'Le lien ne fonctionne que dans un navigateur que vous utilisiez déjà depuis un certain temps. Copiez le lien de cette page, et ouvrez-le dans un tel navigateur.',
    tooNew: (since: Html) =>
      html`Ce navigateur était trop récent au moment de la modification : votre compte ne le connaît que depuis le ${since}.`,
    worksIn: 'Le lien fonctionne dans :',
    knownSince: (browser: string, since: Html) => html`${browser}, connu depuis le ${since}`,
    copyAddress: 'Copier le lien',
    help: (support: Html | string | null) =>
      support === null
        ? 'Si vous n’avez pas de tel navigateur, demandez de l’aide aux personnes qui gèrent cette application.'
        : html`Si vous n’avez pas de tel navigateur, demandez de l’aide : ${support}`,
    noBrowser: 'Ce lien ne fonctionne dans aucun navigateur',
    noBrowserText:
      'Au moment de la modification, le compte n’était utilisé depuis assez longtemps dans aucun navigateur. Seule l’assistance peut donc l’annuler.',
    helpWithout: (support: Html | string | null) =>
      support === null
        ? 'Demandez de l’aide aux personnes qui gèrent cette application.'
        : html`Demandez de l’aide : ${support}`,
    changePassword: 'Changer votre mot de passe',
    invalid: 'Ce lien n’est plus valable',
    invalidText: 'Il a déjà été utilisé, il a expiré, ou la modification a déjà été annulée.',
    invalidHelp: (support: Html | string | null) =>
      support === null
        ? 'Si vous n’avez pas fait cette modification, demandez de l’aide aux personnes qui gèrent cette application.'
        : html`Si vous n’avez pas fait cette modification, demandez de l’aide : ${support}`,
    /** The words about a deleted account that differ. */
    deletion: {
      title: 'Restaurer votre compte',
      done: 'Votre compte a été restauré',
      lead: 'Vous pouvez restaurer le compte tel qu’il était avant sa suppression.',
      password: 'Votre mot de passe',
      passwordHint: 'Il montre que le compte est à vous.',
      codeHint: '',
      submit: 'Restaurer le compte',
      withPasskey: 'Le restaurer avec votre clé d’accès',
      nothing: 'Si le compte doit rester supprimé, vous n’avez rien à faire.',
    },
  },
  emailedSignIn: {
    title: 'Saisissez votre code',
    lead: 'Nous vous avons envoyé un code par e-mail. Saisissez-le ici, dans le navigateur où vous l’avez demandé.',
    notAsked:
      'Pour vous connecter avec un code, demandez-en un dans ce navigateur. Saisissez-le ensuite ici.',
    sentTo: (email: Html, digits: number, time: string, isCertain: boolean) =>
      isCertain
        ? html`Nous avons envoyé à ${email} un code à ${digits} chiffres. Il est valable ${time}. Vérifiez aussi vos courriers indésirables.`
        : html`S’il existe un compte avec ${email}, un e-mail contenant un code à ${digits} chiffres est en route. Il est valable ${time}. Vérifiez aussi vos courriers indésirables.`,
    submit: 'Se connecter',
    linkTitle: 'Se connecter',
    linkLead: (email: string) => `Continuez pour vous connecter en tant que ${email}.`,
    linkSubmit: 'Se connecter',
    usedTitle: 'Ce lien n’est plus valable',
    used: 'Il a déjà été utilisé ou il a expiré.',
    usedHere: (account: string) =>
      `Il a déjà été utilisé ou il a expiré. Vous êtes connecté en tant que ${account}.`,
    elsewhereTitle: 'Vous avez demandé cet e-mail dans un autre navigateur',
    elsewhere:
      'Revenez à ce navigateur, et saisissez-y le code de l’e-mail. Certaines applications ouvrent les liens dans leur propre navigateur.',
    here: (email: Html) => html`Ou connectez-vous ici : nous enverrons un nouveau code à ${email}.`,
    hereSubmit: 'Se connecter plutôt ici',
    notYou: 'Si vous n’avez pas demandé cet e-mail, vous pouvez l’ignorer.',
    createTitle: 'Créer votre compte',
    fields: (email: Html | string) =>
      html`Il n’y a pas encore de compte avec ${email}. Remplissez ce formulaire pour en créer un.`,
    thisEmail: 'cette adresse',
    lostFields: (labels: readonly string[]) =>
      `Données de l’inscription qui n’ont pas été conservées : ${labels.join(', ')}. Si vous créez un compte, saisissez-les plus tard dans votre profil.`,
    again: 'Recevoir un autre code',
    other: 'Utiliser une autre adresse e-mail',
  },

  security: {
    title: 'Sécurité',
    change: 'Modifier',
    show: 'Afficher',
    manage: 'Gérer',
    confirmEmail: {
      title: 'Confirmer votre adresse e-mail',
      text: (email: string) =>
        `Confirmez que ${email} est votre adresse e-mail. Vous pourrez ensuite activer l’authentification à deux facteurs et ajouter des clés d’accès.`,
      first: 'Confirmez d’abord votre adresse e-mail.',
      wrong: 'L’adresse e-mail est incorrecte ?',
      change: 'Modifiez-la dans votre profil.',
      wrongAddress:
        'L’adresse e-mail est incorrecte ? Déconnectez-vous, puis inscrivez-vous à nouveau avec la bonne.',
      startOver: 'Se déconnecter et s’inscrire à nouveau',
    },
    methods: {
      title: 'Méthodes de connexion',
      passkeys: (count: number) =>
        `${count} ${plural(count, { one: 'clé d’accès', many: 'de clés d’accès', other: 'clés d’accès' })}`,
      email: 'code par e-mail',
      none: 'Vous n’avez pas encore de méthode de connexion.',
    },
    taskTitle: 'Encore une étape',
    taskText: 'Terminez cette étape avant de continuer.',
    password: {
      change: 'Modifier le mot de passe',
      set: 'Définir un mot de passe',
      isSet: 'Vous avez un mot de passe.',
      none: 'Votre compte n’a pas de mot de passe.',
      /** What a password is good for, by what the account has in addition to it. */
      use: {
        email:
          'Si vous en définissez un, vous pouvez aussi vous connecter avec votre adresse e-mail et ce mot de passe.',
        username:
          'Si vous en définissez un, vous pouvez aussi vous connecter avec votre nom d’utilisateur et ce mot de passe.',
        either:
          'Si vous en définissez un, vous pouvez aussi vous connecter avec votre adresse e-mail ou votre nom d’utilisateur et ce mot de passe.',
      },
      /** What an account needs before a password is of use. */
      missing: {
        email: (hasPassword: boolean) => unusable(hasPassword, 'une adresse e-mail'),
        username: (hasPassword: boolean) => unusable(hasPassword, 'un nom d’utilisateur'),
        either: (hasPassword: boolean) => unusable(hasPassword, 'une adresse e-mail ou un nom d’utilisateur'),
      },
      add: {
        email: 'Ajouter une adresse e-mail',
        username: 'Ajouter un nom d’utilisateur',
        either: 'Ajouter une adresse e-mail ou un nom d’utilisateur',
      },
      remove: 'Supprimer le mot de passe',
      removeText: 'Ensuite, vous vous connecterez avec vos autres méthodes de connexion.',
      confirmRemove: 'Oui, supprimer le mot de passe',
      ends: 'Vos autres sessions prennent fin lorsque vous modifiez le mot de passe.',
      demanded:
        'Choisissez un nouveau mot de passe pour continuer. Saisissez une dernière fois votre mot de passe actuel.',
    },
    secondFactor: {
      title: 'Authentification à deux facteurs',
      off: 'Si vous l’activez, un mot de passe volé ne suffit plus pour se connecter.',
      demanded:
        'Configurez une application d’authentification ou ajoutez une clé d’accès. L’une des deux suffit.',
      on: (totp: boolean, passkeys: boolean) =>
        totp && passkeys
          ? 'Pour vous connecter, vous avez besoin d’un code de votre application d’authentification ou d’une clé d’accès.'
          : totp
            ? 'Pour vous connecter, vous avez besoin d’un code de votre application d’authentification.'
            : 'Pour vous connecter, vous avez besoin d’une clé d’accès.',
      codesLeft: (count: number) =>
        count === 0
          ? 'Il ne vous reste aucun code de récupération. Créez-en de nouveaux.'
          : `Il vous reste ${count} ${plural(count, {
              one: 'code de récupération',
              many: 'de codes de récupération',
              other: 'codes de récupération',
            })}.`,
      begin: 'Configurer une application d’authentification',
      replace: 'Configurer une autre application d’authentification',
      again: 'Recommencer avec un nouveau code QR',
      setUp: 'Configurer votre application d’authentification',
      scanTitle: 'Ajoutez ce compte à l’application',
      enterTitle: 'Saisissez le code',
      codesNext: 'La page suivante les affiche, une fois l’authentification à deux facteurs activée.',
      cancel: 'Annuler',
      scan: 'Scannez ce code avec votre application d’authentification, par exemple Google Authenticator, Microsoft Authenticator ou 1Password.',
      codeLabel: 'Code de l’application',
      qr: 'Code QR pour votre application d’authentification',
      open: 'Ouvrir l’application d’authentification sur cet appareil',
      manual: 'Ou saisissez cette clé dans l’application :',
      confirm: 'Activer',
      codeHint: 'Les 6 chiffres affichés par l’application. Vous avez 10 minutes.',
      replaced:
        'Cette configuration a été recommencée dans un autre onglet. Scannez le nouveau code QR, et saisissez son code.',
      renew: 'Créer de nouveaux codes de récupération',
      renewText: 'Vos codes de récupération actuels ne fonctionneront plus.',
      confirmRenew: 'Oui, en créer de nouveaux',
      disable: 'Retirer l’application d’authentification',
      disableText:
        'Ensuite, vous n’aurez plus besoin de ses codes pour vous connecter. Vos autres sessions prendront fin.',
      disableLastText:
        'Cela désactive l’authentification à deux facteurs et supprime vos codes de récupération. Vos autres sessions prendront fin.',
      confirmDisable: 'Oui, retirer',
      passkeysOn: 'Utiliser mes clés d’accès comme deuxième étape',
      passkeysOff: 'Ne plus utiliser les clés d’accès comme deuxième étape',
      trusted: (count: number) =>
        `Dans ${count} ${plural(count, { one: 'navigateur', many: 'de navigateurs', other: 'navigateurs' })}, vous vous connectez avec le mot de passe seul.`,
      askAgain: 'Redemander dans tous les navigateurs',
      codes: 'Enregistrez vos codes de récupération',
      codesText:
        'Si vous perdez votre téléphone ou vos clés d’accès, connectez-vous avec l’un de ces codes. Chaque code ne fonctionne qu’une fois.',
      codesOnce:
        'Ils ne sont affichés que maintenant : enregistrez-les donc ailleurs que sur votre téléphone.',
      fileName: 'codes-de-recuperation.txt',
      fileHeading: (appName: string, account: string | null) =>
        `Codes de récupération pour ${appName}${account === null ? '' : ` (${account})`}`,
      download: 'Télécharger',
      print: 'Imprimer',
      saved: 'Je les ai enregistrés',
    },
    passkeys: {
      title: 'Clés d’accès',
      text: 'Avec une clé d’accès, vous vous connectez avec le verrouillage d’écran de votre appareil au lieu d’un mot de passe.',
      count: (count: number) =>
        `${count} ${plural(count, { one: 'clé d’accès', many: 'de clés d’accès', other: 'clés d’accès' })}.`,
      add: 'Ajouter une clé d’accès',
      change: 'Modifier',
      rename: 'Renommer',
      remove: 'Supprimer',
      removeText: 'Ensuite, vous ne pourrez plus vous connecter avec cette clé d’accès.',
      confirmRemove: 'Oui, supprimer',
      synced: 'synchronisée',
      added: (time: Html) => html`Ajoutée le ${time}.`,
      used: (time: Html) => html`Dernière utilisation le ${time}.`,
      neverUsed: 'Pas encore utilisée.',
      needsScript: 'Les clés d’accès nécessitent JavaScript et un navigateur qui les prend en charge.',
    },
    linked: {
      title: 'Comptes associés',
      none: 'Aucun compte n’est associé.',
      since: (time: Html) => html`Associé le ${time}.`,
      unlink: 'Dissocier',
      unlinkText: (provider: string) => `Ensuite, vous ne pourrez plus vous connecter avec ${provider}.`,
      confirmUnlink: 'Oui, dissocier',
      link: (provider: string) => `Associer ${provider}`,
      only: (provider: string) => `${provider} est le seul moyen de se connecter à votre compte.`,
      /** What a user can add, so that the account can be unlinked. Empty if this cannot be done on the page. */
      addFirst: (added: readonly Html[]) =>
        added.length === 0
          ? 'Vous ne pouvez pas le dissocier.'
          : html`Avant de le dissocier, ${added.map((one, index) => html`${index > 0 && (index === added.length - 1 ? ' ou ' : ', ')}${one}`)}.`,
      added: {
        passkey: 'ajoutez une clé d’accès',
        password: 'définissez un mot de passe',
        email: 'ajoutez une adresse e-mail',
        username: 'ajoutez un nom d’utilisateur',
        either: 'ajoutez une adresse e-mail ou un nom d’utilisateur',
        account: 'associez un autre compte',
      },
    },
    changes: {
      title: 'Modifications récentes',
      text: 'Les modifications des 30 derniers jours.',
      mailed: 'Si vous n’êtes pas à l’origine de l’une d’elles, utilisez le lien de l’e-mail à son sujet.',
      count: (count: number) =>
        `${count} ${plural(count, { one: 'modification', many: 'de modifications', other: 'modifications' })} au cours des 30 derniers jours.`,
      none: 'Rien n’a été modifié au cours des 30 derniers jours.',
      undoable: 'peut être annulée',
      bySupport: 'seule l’assistance peut l’annuler',
    },
    browsers: {
      title: 'Navigateurs que vous avez utilisés',
      mailed: 'Si quelqu’un se connecte avec un autre navigateur, vous recevez un e-mail.',
      count: (count: number) =>
        count === 0
          ? 'Aucun pour l’instant.'
          : `${count} ${plural(count, { one: 'navigateur', many: 'de navigateurs', other: 'navigateurs' })}.`,
      text: 'Votre compte se souvient de ces navigateurs, même après votre déconnexion, jusqu’à ce que vous modifiiez ou supprimiez votre mot de passe, ou que vous activiez l’authentification à deux facteurs dans un autre navigateur. Oubliez un navigateur que vous n’utilisez plus. Pour vous y déconnecter, utilisez « Sessions ».',
      current: 'ce navigateur',
      seen: (first: Html, last: Html) => html`Première utilisation le ${first}, dernière le ${last}.`,
      trusted: (until: Html) => html`Le mot de passe seul suffit pour s’y connecter jusqu’au ${until}.`,
      forget: 'Oublier',
      forgetText:
        'La prochaine connexion y comptera comme une connexion dans un nouveau navigateur. Si vous y êtes connecté, vous le restez.',
      confirmForget: 'Oui, oublier',
    },
  },
  account: {
    title: 'Profil',
    profile: 'À propos de vous',
    save: 'Enregistrer vos informations',
    username: 'Nom d’utilisateur',
    saveUsername: 'Enregistrer le nom d’utilisateur',
    email: 'Adresse e-mail',
    noEmail: 'Ce compte n’a pas d’adresse e-mail.',
    verified: 'confirmée',
    unverified: 'non confirmée',
    verify: (isByCode: boolean) =>
      isByCode ? 'Recevoir un code pour la confirmer' : 'Recevoir un lien pour la confirmer',
    pending: (email: Html) => html`En attente de l’ouverture du lien envoyé à ${email}.`,
    emailAgain: 'Renvoyer l’e-mail',
    cancelEmail: 'Annuler cette modification',
    newEmailHint:
      'Nous enverrons un lien à la nouvelle adresse. Votre adresse e-mail sera modifiée une fois que vous aurez ouvert ce lien et appuyé sur le bouton de la page. Vous serez alors déconnecté de tous les autres appareils.',
    changeEmail: 'Modifier l’adresse e-mail',
    firstEmail: 'Ajouter une adresse e-mail',
    firstEmailHint:
      'Nous enverrons un lien à cette adresse. Une fois que vous l’aurez ouvert, votre compte aura cette adresse e-mail.',
    data: 'Mes données',
    dataText: 'Téléchargez un fichier contenant tout ce qui est enregistré à votre sujet.',
    download: 'Télécharger mes données',
    delete: 'Supprimer mon compte',
    opensDeletion: 'Supprimer',
    ofDeletion: 'mon compte',
    deleteNow:
      'Le compte sera supprimé immédiatement, avec tout ce qui lui appartient. Cette action est irréversible.',
    deleteLater: (days: number) =>
      `Toutes les sessions prendront fin immédiatement, et le compte ne pourra plus être utilisé. Au bout de ${days} ${plural(days, { one: 'jour', many: 'de jours', other: 'jours' })}, il sera définitivement supprimé, avec tout ce qui lui appartient.`,
    restore: 'D’ici là, un lien que nous vous enverrons par e-mail permettra de le restaurer.',
    restoreByApp: 'D’ici là, seules les personnes qui gèrent cette application pourront le restaurer.',
    confirmDelete: 'Oui, supprimer',
  },
  proof: {
    lead: 'Pour votre sécurité, ce n’est possible qu’après avoir confirmé votre identité.',
    first: 'Confirmer votre identité',
  },
  sessions: {
    title: 'Sessions',
    lead: 'Vous êtes connecté sur ces appareils. Si vous ne reconnaissez pas l’un d’eux, mettez fin à sa session ici.',
    browsers: (link: Html) => html`Pour les navigateurs où vous vous êtes déconnecté, consultez « ${link} ».`,
    current: 'cet appareil',
    unknownDevice: 'Un appareil inconnu',
    acting: 'Une personne qui gère cette application, pour la voir comme vous la voyez',
    ip: 'Adresse IP',
    active: 'Dernière activité',
    created: 'Connexion',
    end: 'Se déconnecter',
    about: (device: string, created: Html) => html`(${device}, connexion le ${created})`,
    endOthers: 'Se déconnecter de tous les autres appareils',
    endAll: 'Oui, se déconnecter partout',
    wantsEndAll: 'Se déconnecter partout',
    endAllText: 'Vous serez déconnecté partout, y compris ici.',
  },
  keys: {
    title: 'Clés API',
    lead: 'Les programmes utilisent une clé API pour agir en votre nom.',
    none: 'Vous n’avez pas de clé API.',
    created: 'Création',
    used: 'Dernière utilisation',
    neverUsed: 'Jamais',
    expires: 'Expiration',
    inDays: (days: number) =>
      `Dans ${days} ${plural(days, { one: 'jour', many: 'de jours', other: 'jours' })}`,
    neverExpires: 'Jamais',
    expired: 'expirée',
    scopes: 'Droits',
    noScopes: 'tous vos droits',
    revoke: 'Révoquer',
    revokeText:
      'Les programmes qui utilisent cette clé cesseront immédiatement de fonctionner. Une clé révoquée ne peut pas être rétablie.',
    confirmRevoke: 'Oui, révoquer',
    about: (name: string, start: string) => `la clé ${name}, ${start}`,
    make: 'Créer une clé API',
    nameHint: 'Pour votre liste, par exemple le nom du programme.',
    allRights:
      'Si vous ne la limitez pas, cette clé peut faire tout ce que vous pouvez faire dans cette application.',
    someRights: 'Seulement ceux-ci :',
    everything: 'Tout ce que vous pouvez faire dans cette application',
    everythingText:
      'Toute personne qui a la clé peut alors utiliser l’application en tant que vous. Ne choisissez cela que pour les programmes qui en ont besoin.',
    scopesHint:
      'Les noms des droits, séparés par des espaces ou des virgules. La documentation de cette application en donne la liste.',
    submit: 'Créer la clé',
    made: (name: string) => `Votre nouvelle clé : ${name}`,
    madeText: 'Copiez-la maintenant. Elle ne sera plus affichée.',
  },
  /** The roles of members that latchkey knows, by their names. */
  roles: {
    owner: 'Propriétaire',
    admin: 'Administrateur',
    member: 'Membre',
  },
  organizations: {
    title: 'Organisations',
    lead: 'Une organisation est un groupe de personnes qui partagent des données dans cette application.',
    none: 'Vous n’êtes membre d’aucune organisation.',
    next: 'Organisations plus anciennes',
    create: 'Créer une organisation',
    submitCreate: 'Créer',
    slug: 'Nom court',
    ownSlug: 'Choisir le nom court pour les adresses web',
    newSlugHint:
      'Pour les adresses web, par exemple acme-2 : lettres minuscules, chiffres et traits d’union. S’il est vide, il est créé à partir du nom.',
  },
  organization: {
    ownRole: 'Votre rôle',
    change: 'Modifier le nom',
    save: 'Enregistrer',
    slugHint:
      'Pour les adresses web, par exemple acme-2 : lettres minuscules, chiffres et traits d’union. Si vous le modifiez, les liens existants vers cette organisation risquent de ne plus fonctionner.',
    members: 'Membres',
    nextMembers: 'Membres plus anciens',
    you: 'vous',
    since: (date: Html) => html`Membre depuis le ${date}`,
    changeMember: 'Modifier',
    role: 'Rôle',
    setRole: 'Modifier le rôle',
    of: (name: string) => `du membre ${name}`,
    remove: 'Retirer',
    removeText: 'Cet utilisateur perdra immédiatement l’accès à l’organisation.',
    confirmRemove: 'Oui, retirer',
    invitations: 'Invitations',
    nextInvitations: 'Invitations plus anciennes',
    expires: (time: Html) => html`Expire le ${time}`,
    revoke: 'Révoquer',
    invitationOf: (email: string) => `l’invitation pour ${email}`,
    revokeText: 'Le lien de l’e-mail cessera de fonctionner.',
    confirmRevoke: 'Oui, révoquer',
    invite: 'Inviter quelqu’un',
    inviteHint:
      'Nous enverrons par e-mail un lien qui ne fonctionne que pour cette adresse. Si vous l’invitez à nouveau, un lien précédent cessera de fonctionner.',
    submitInvite: 'Inviter',
    leaveTitle: 'Quitter l’organisation',
    leaveText: 'Vous perdrez immédiatement l’accès à l’organisation.',
    lastOwner:
      'Vous êtes le seul propriétaire. Pour que vous puissiez quitter l’organisation, un autre membre doit d’abord devenir propriétaire.',
    leave: 'Quitter',
    confirmLeave: 'Oui, quitter',
    deleteTitle: 'Supprimer l’organisation',
    deleteText:
      'Elle sera supprimée immédiatement pour tous les membres, avec tout ce qui lui appartient. Cette action est irréversible.',
    delete: 'Supprimer',
    confirmDelete: 'Oui, supprimer',
  },
  changes: {
    'account-deleted': 'Le compte a été supprimé',
    'account-recovered': 'Une modification a été annulée',
    'administrator-added': 'Le compte est devenu administrateur',
    'administrator-acted': 'Une personne qui gère cette application a ouvert votre compte',
    'api-key-created': 'Une clé API a été créée',
    'data-exported': 'Les données du compte ont été téléchargées',
    'device-forgotten': 'Un navigateur a été oublié',
    'email-change-requested': 'Une nouvelle adresse e-mail a été demandée',
    'email-changed': 'L’adresse e-mail a été modifiée',
    'new-device': 'Une connexion dans un nouveau navigateur',
    'new-password-required': 'Un nouveau mot de passe a été exigé',
    'organization-owner-added': 'Un membre est devenu propriétaire d’une organisation',
    'passkey-added': 'Une clé d’accès a été ajoutée',
    'passkey-removed': 'Une clé d’accès a été supprimée',
    'password-changed': 'Le mot de passe a été modifié',
    'password-removed': 'Le mot de passe a été supprimé',
    'password-set': 'Un mot de passe a été défini',
    'provider-linked': 'Un compte a été associé',
    'provider-unlinked': 'Un compte a été dissocié',
    'recovery-code-used': 'Un code de récupération a été utilisé',
    'recovery-codes-renewed': 'De nouveaux codes de récupération ont été créés',
    'second-factor-attempts': 'Des codes incorrects ont été saisis',
    'second-factor-disabled': 'L’authentification à deux facteurs a été désactivée',
    'second-factor-enabled': 'L’authentification à deux facteurs a été activée',
    'username-changed': 'Le nom d’utilisateur a été modifié',
  },

  users: {
    title: 'Utilisateurs',
    search: 'Rechercher',
    searchHint:
      'Une partie d’une adresse e-mail ou d’un nom d’utilisateur. La recherche ne porte sur rien d’autre.',
    submitSearch: 'Rechercher',
    none: 'Aucun utilisateur trouvé.',
    noneFor: (searched: string) =>
      `Aucune adresse e-mail ni aucun nom d’utilisateur ne contient « ${searched} ».`,
    noneYet: 'La recherche n’a trouvé aucun utilisateur jusqu’à présent.',
    continueSearch: 'Continuer la recherche',
    next: 'Page suivante',
    all: 'Afficher tous les utilisateurs',
    user: 'Utilisateur',
    state: 'État',
    active: 'Actif',
    created: 'Création',
    tags: {
      own: 'vous',
      closed: 'Suppression en attente',
      suspended: 'Suspendu',
      unverified: 'adresse e-mail non confirmée',
    },
    create: 'Créer un utilisateur',
    submitCreate: 'Créer l’utilisateur',
    invites: 'L’utilisateur reçoit un e-mail avec un lien pour choisir un mot de passe.',
    either: (invites: boolean) =>
      `Un utilisateur a besoin d’une adresse e-mail, d’un nom d’utilisateur ou des deux.${invites ? ' Sans adresse e-mail, l’utilisateur ne peut pas choisir de mot de passe. Demandez aux personnes qui gèrent le serveur d’en définir un.' : ''}`,
  },
  user: {
    account: 'Compte',
    profile: 'Profil',
    signIn: 'Connexion',
    verified: 'Adresse e-mail confirmée',
    created: 'Création',
    state: 'État',
    active: 'Actif',
    own: 'C’est votre propre compte.',
    closedSince: (time: Html) => html`La suppression a été demandée le ${time}.`,
    restorableUntil: (time: Html) =>
      html`Jusqu’au ${time}, le compte peut être restauré : avec le lien de l’e-mail sur la suppression, s’il y en a un, ou avec la commande <code>npx latchkey users restore</code>.`,
    suspendedSince: (time: Html, until: Html | null) =>
      until === null
        ? html`Suspendu depuis le ${time}.`
        : html`Suspendu depuis le ${time}, jusqu’au ${until}.`,
    reason: 'Motif',
    reasonHint: 'Une note pour les administrateurs. L’utilisateur ne la voit pas.',
    until: 'Jusqu’au',
    untilHint: 'Si vous laissez ce champ vide, la suspension dure jusqu’à ce que vous la leviez.',
    emailedCode: 'Connexion par e-mail',
    secondFactor: 'Authentification à deux facteurs',
    on: 'Activée',
    off: 'Désactivée',
    totp: 'Application d’authentification',
    recoveryCodes: 'Codes de récupération restants',
    passkeys: 'Clés d’accès',
    providers: 'Comptes associés',
    none: 'Aucun(e)',
    edit: 'Modifier',
    save: 'Enregistrer',
    actions: 'Actions',
    roles: 'Rôles',
    rolesText: 'Ce que l’utilisateur est autorisé à faire.',
    changeRoles: 'Modifier',
    ofRoles: 'les rôles',
    // The words of `ofRoles` follow, hidden.
    saveRoles: 'Enregistrer',
    fixedRoles:
      'Certains rôles permettent plus que ce que vous êtes autorisé à faire : vous ne pouvez donc pas les modifier.',
    acting: 'Agir en tant que cet utilisateur',
    act: 'Agir',
    ofActing: 'en tant que cet utilisateur',
    // The words of `ofActing` follow, hidden.
    confirmAct: 'Oui, agir',
    actText:
      'Vous verrez l’application comme l’utilisateur la voit, et ne pourrez rien modifier. Vous serez déconnecté de votre propre compte, et l’utilisateur en sera informé.',
    actingSession: 'Un administrateur qui agit en tant que cet utilisateur',
    suspension: 'Suspension',
    suspend: 'Suspendre',
    ofSuspension: 'l’utilisateur',
    confirmSuspend: 'Oui, suspendre',
    suspendText:
      'Toutes les sessions de l’utilisateur prendront fin. Ensuite, l’utilisateur ne pourra plus se connecter.',
    reinstate: 'Lever la suspension',
    reinstateText: 'Lever la suspension permet à l’utilisateur de se reconnecter.',
    passwordLink: 'Nouveau mot de passe par e-mail',
    sendPasswordReset: 'Envoyer un lien pour un nouveau mot de passe',
    sendPasswordResetText:
      'L’utilisateur reçoit un e-mail. Le mot de passe actuel fonctionne jusqu’à l’utilisation du lien.',
    sendFirstPassword: 'Envoyer un lien pour choisir un mot de passe',
    sendFirstPasswordText:
      'L’utilisateur n’a pas de mot de passe, et reçoit un e-mail avec un lien pour en choisir un.',
    newPassword: 'Nouveau mot de passe à la prochaine connexion',
    requireNewPassword: 'Exiger',
    ofNewPassword: 'un nouveau mot de passe',
    confirmRequireNewPassword: 'Oui, exiger',
    requireNewPasswordText:
      'Toutes les sessions de l’utilisateur prendront fin, et l’utilisateur devra remplacer le mot de passe actuel.',
    disableSecondFactor: 'Désactiver',
    ofSecondFactor: 'l’authentification à deux facteurs',
    confirmDisableSecondFactor: 'Oui, désactiver',
    disableSecondFactorText:
      'Pour un utilisateur qui a perdu l’application d’authentification, les clés d’accès et les codes de récupération. Toutes les sessions de l’utilisateur prendront fin.',
    deletion: 'Suppression',
    delete: 'Supprimer',
    ofDeletion: 'l’utilisateur',
    confirmDelete: 'Oui, supprimer',
    deleteText:
      'L’utilisateur sera supprimé avec tout ce qui appartient au compte. Vous ne pouvez pas annuler cette action.',
    closeText: (days: number) =>
      `Ensuite, le compte ne pourra plus être utilisé. Au bout de ${days} ${plural(days, { one: 'jour', many: 'de jours', other: 'jours' })}, il sera définitivement supprimé. D’ici là, il pourra être restauré avec la commande npx latchkey users restore.`,
    sessions: 'Sessions',
    noSessions: 'L’utilisateur n’a pas de session.',
    unknownDevice: 'Appareil inconnu',
    signedIn: (time: Html) => html`connexion le ${time}`,
    lastActive: (time: Html) => html`dernière activité : ${time}`,
    endSession: 'Terminer la session',
    endSessions: 'Terminer toutes les sessions',
    endSessionsText: 'L’utilisateur sera déconnecté partout.',
    confirmEndSessions: 'Oui, tout terminer',
    events: 'Événements récents',
    noEvents: 'Il n’y a aucun événement.',
    eventNames: {
      'account.linked': 'Un compte a été associé',
      'account.recovered': 'Une modification a été annulée',
      'account.unlinked': 'Un compte a été dissocié',
      'admin.acting_started': 'Un administrateur a commencé à agir en tant que cet utilisateur',
      'admin.password_reset_sent': 'Un administrateur a envoyé un lien pour un nouveau mot de passe',
      'admin.session_revoked': 'Un administrateur a mis fin à une session',
      'admin.sessions_revoked': 'Un administrateur a mis fin à toutes les sessions',
      'admin.user_created': 'Un administrateur a créé le compte',
      'admin.user_deleted': 'Un administrateur a supprimé le compte',
      'admin.user_updated': 'Un administrateur a modifié le compte',
      'api_key.created': 'Une clé API a été créée',
      'api_key.revoked': 'Une clé API a été révoquée',
      'device.trusted': 'Un navigateur est devenu un navigateur de confiance',
      'organization.created': 'Une organisation a été créée',
      'organization.deleted': 'Une organisation a été supprimée',
      'organization.invitation_created': 'Une invitation à une organisation a été créée',
      'organization.invitation_revoked': 'Une invitation à une organisation a été révoquée',
      'organization.member_added': 'L’utilisateur est devenu membre d’une organisation',
      'organization.member_removed': 'L’utilisateur n’est plus membre d’une organisation',
      'organization.member_role_changed': 'Le rôle dans une organisation a été modifié',
      'organization.updated': 'Une organisation a été modifiée',
      'passkey.added': 'Une clé d’accès a été ajoutée',
      'passkey.removed': 'Une clé d’accès a été supprimée',
      'password.changed': 'Le mot de passe a été modifié',
      'password.new_required': 'Un nouveau mot de passe a été exigé',
      'password.removed': 'Le mot de passe a été supprimé',
      'password.reset': 'Le mot de passe a été remplacé à l’aide d’un lien reçu par e-mail',
      'rate_limit.refused': 'Des requêtes ont été refusées, car il y en avait trop',
      'mail.held': 'Des e-mails à des adresses non confirmées sont en attente, car il y en avait trop',
      'recovery_code.used': 'Un code de récupération a été utilisé',
      'second_factor.disabled': 'L’authentification à deux facteurs a été désactivée',
      'second_factor.enabled': 'L’authentification à deux facteurs a été activée',
      'session.created': 'L’utilisateur s’est connecté',
      'session.reauthenticated': 'L’utilisateur a confirmé son identité',
      'session.revoked': 'Une session a pris fin',
      'sign_in.failed': 'Une connexion a échoué',
      'sign_in.throttled': 'Les connexions ont été mises en pause après trop de tentatives incorrectes',
      'tokens.read': 'Les jetons d’un compte associé ont été lus',
      'tokens.refreshed': 'Les jetons d’un compte associé ont été actualisés',
      'user.created': 'Le compte a été créé',
      'user.deleted': 'Le compte a été supprimé',
      'user.deletion_requested': 'La suppression du compte a été demandée',
      'user.email_changed': 'L’adresse e-mail a été modifiée',
      'user.email_verified': 'L’adresse e-mail a été confirmée',
      'user.exported': 'Les données du compte ont été téléchargées',
      'user.reinstated': 'La suspension a été levée',
      'user.restored': 'Le compte a été restauré',
      'user.roles_changed': 'Les rôles ont été modifiés',
      'user.suspended': 'L’utilisateur a été suspendu',
      'user.updated': 'Le profil a été modifié',
    },
  },

  refusal: {
    back: (appName: string) => `Retour à ${appName}`,
    notSaved: 'Ce que vous avez saisi n’a pas été enregistré.',
    signedInAs: (account: string) => `Vous êtes connecté en tant que ${account}.`,
    other: 'Se connecter avec un autre compte',
    stopActing: 'Ne plus agir en tant que cet utilisateur',
    /** The titles of some errors, by their codes. */
    titlesOf: {
      acting_session: 'Vous n’y avez pas accès pour l’instant',
      admin_required: 'Vous n’avez pas accès à cette page',
    },
    /** The titles of the other errors, by their statuses. */
    titles: {
      400: 'Cette adresse web n’est pas valide',
      401: 'Vous avez été déconnecté',
      403: 'Ce n’est pas possible',
      404: 'Page introuvable',
      405: 'Ce n’est pas possible',
      413: 'La requête est trop volumineuse',
      429: 'Trop de tentatives',
      503: 'Réessayez dans un instant',
    },
    wait: (words: string) => `Réessayez dans ${words}.`,
  },
  /** What a page says to a user who was led there from another page. */
  needed: {
    'second-factor-needed':
      'La page que vous avez ouverte nécessite l’authentification à deux facteurs. Configurez-la pour continuer.',
    'password-dropped':
      'Nous avons supprimé le mot de passe de ce compte, car il avait été défini avant que vous ne confirmiez votre adresse e-mail. Vous pouvez en définir un nouveau sur cette page.',
    'recovery-code-used':
      'Vous êtes connecté avec un code de récupération, qui ne fonctionne plus. Si vous avez perdu votre téléphone, configurez une application d’authentification sur un autre. Cette page indique aussi combien de codes de récupération il vous reste.',
    'session-over': 'Votre session est terminée. Reconnectez-vous.',
    'set-up-expired':
      'La configuration a pris trop de temps ou était déjà terminée. Configurez à nouveau votre application d’authentification.',
  },
  /** What a user is told whose sign-in has created an account. */
  created: {
    welcome: (account: string | null) =>
      account === null
        ? 'Bienvenue. Nous avons créé un nouveau compte.'
        : `Bienvenue. Nous avons créé un nouveau compte pour ${account}.`,
    hint: (signOut: Html) =>
      html`Si vous vous attendiez à un compte existant, ${signOut} et connectez-vous avec une autre adresse e-mail.`,
    signOut: 'déconnectez-vous',
  },
  done: {
    'signed-out': 'Vous êtes déconnecté.',
    'password-reset': 'Votre mot de passe a été modifié. Utilisez-le pour vous connecter.',
    'invitation-accepted': 'Votre compte est prêt. Connectez-vous.',
    'signed-up': 'Votre compte a été créé. Connectez-vous.',
    'signed-up-to-confirm':
      'Votre compte a été créé. Connectez-vous, et nous vous enverrons par e-mail un code pour confirmer votre adresse e-mail.',
    'account-deleted': 'Votre compte a été supprimé.',
    'signed-out-everywhere': 'Vous êtes déconnecté partout.',
    sent: 'L’e-mail est en route.',
    'password-changed':
      'Votre mot de passe a été modifié. Vous avez été déconnecté de tous les autres appareils.',
    'password-set': 'Votre compte a maintenant un mot de passe.',
    'password-removed':
      'Votre mot de passe a été supprimé. Vous avez été déconnecté de tous les autres appareils.',
    'second-factor-on':
      'L’authentification à deux facteurs est activée. Vous avez été déconnecté de tous les autres appareils.',
    'second-factor-off': 'L’authentification à deux facteurs est désactivée.',
    'app-removed': 'L’application d’authentification a été retirée.',
    'passkeys-off':
      'Vos clés d’accès ne sont plus la deuxième étape. Vous avez été déconnecté de tous les autres appareils.',
    'codes-renewed':
      'Vous avez de nouveaux codes de récupération. Les codes précédents ne fonctionnent plus.',
    'passkey-added': 'La clé d’accès a été ajoutée.',
    'passkey-removed': 'La clé d’accès a été supprimée. Supprimez-la aussi de votre appareil.',
    linked: 'Le compte a été associé.',
    unlinked: 'Le compte a été dissocié.',
    'browser-forgotten': 'Le navigateur a été oublié.',
    'browsers-not-trusted': 'Désormais, chaque connexion demande à nouveau la deuxième étape.',
    saved: 'Vos modifications sont enregistrées.',
    'details-saved': 'Vos informations sont enregistrées.',
    'username-saved': 'Votre nom d’utilisateur est enregistré.',
    'email-change-sent':
      'Un e-mail contenant un lien est en route vers la nouvelle adresse. Ouvrez ce lien dans l’heure, et appuyez sur le bouton de la page. Vérifiez aussi vos courriers indésirables.',
    'email-change-canceled':
      'La modification de votre adresse e-mail a été annulée. Le lien de l’e-mail ne fonctionne plus.',
    'session-ended': 'La session est terminée.',
    'other-sessions-ended': 'Toutes les autres sessions sont terminées.',
    'api-key-revoked': 'La clé a été révoquée.',
    'organization-created': 'L’organisation a été créée. Vous en êtes propriétaire.',
    'organization-saved': 'Les modifications ont été enregistrées.',
    'member-role-changed': 'Le rôle a été modifié.',
    'member-removed': 'Le membre a été retiré.',
    'organization-left': 'Vous n’êtes plus membre de cette organisation.',
    'member-invited': 'L’invitation est en route par e-mail.',
    'organization-invitation-revoked': 'L’invitation a été révoquée. Son lien ne fonctionne plus.',
    'organization-deleted': 'L’organisation a été supprimée.',
    'user-created': 'L’utilisateur a été créé.',
    'user-invited':
      'L’utilisateur a été créé, et reçoit un e-mail avec un lien pour choisir un mot de passe.',
    'user-changed': 'Les modifications ont été enregistrées.',
    'user-roles-changed': 'Les rôles ont été modifiés.',
    'user-suspended': 'L’utilisateur est suspendu.',
    'user-reinstated': 'La suspension est levée.',
    'user-closed': 'Le compte ne peut plus être utilisé, et sera définitivement supprimé.',
    'user-deleted': 'L’utilisateur a été supprimé.',
    'new-password-required': 'L’utilisateur doit choisir un nouveau mot de passe.',
    'second-factor-disabled': 'L’authentification à deux facteurs de l’utilisateur a été désactivée.',
    'sessions-ended': 'Toutes les sessions de l’utilisateur sont terminées.',
  },

  errorTitle: (title: string) => `Erreur : ${title}`,
  errorHeading: 'Un problème est survenu',
  codeOver,

  /** What an error means to the user, by its code. */
  errors: {
    account_deleted:
      'Ce compte a été supprimé. Pendant un certain temps, il peut être restauré : avec le lien de l’e-mail sur la suppression, s’il y en a un, ou par les personnes qui gèrent cette application.',
    account_exists:
      'Vous avez déjà un compte avec cette adresse e-mail. Connectez-vous à ce compte, puis associez ce service dans « Sécurité ».',
    account_in_use: 'Le compte ne peut pas encore être supprimé, car d’autres données en dépendent.',
    account_linked_elsewhere:
      'Ce compte sert déjà à se connecter à un autre compte ici. Utilisez-le pour vous connecter, ou utilisez-en un autre.',
    account_not_linked: 'Ce compte n’est pas associé. Il a peut-être déjà été dissocié.',
    account_suspended: 'Ce compte est suspendu. Contactez les personnes qui gèrent ce service.',
    access_denied:
      'Vous avez annulé la connexion sur l’autre service. Vous pouvez réessayer, ou vous connecter autrement.',
    acting_session:
      'Vous agissez en tant que cet utilisateur : vous pouvez donc seulement consulter des pages de l’application.',
    admin_required: 'Seuls les administrateurs peuvent ouvrir cette page.',
    already_member: 'Cet utilisateur est déjà membre.',
    ambiguous_credentials: unexpected,
    api_key_not_found: 'Cette clé n’existe pas. Elle a peut-être déjà été révoquée.',
    body_too_large:
      'Vous avez saisi plus que ce formulaire n’accepte. Raccourcissez votre saisie, puis réessayez.',
    body_too_slow: 'La connexion réseau était trop lente. Réessayez.',
    code_expired: 'Ce code ne fonctionne plus ici. Demandez-en un autre.',
    device_not_found: 'Votre compte ne connaît pas ce navigateur. Il a peut-être déjà été retiré.',
    email_code_not_offered:
      'Aucun code ne peut être envoyé par e-mail ici. Choisissez un autre moyen de confirmer votre identité.',
    email_missing: 'Cet utilisateur n’a pas d’adresse e-mail à laquelle envoyer un lien.',
    email_not_verified: 'Confirmez d’abord votre adresse e-mail.',
    email_taken: 'Un autre compte a cette adresse e-mail.',
    email_unproven:
      'L’adresse e-mail de cet utilisateur n’est pas confirmée : il pourrait donc s’agir de quelqu’un d’autre.',
    human_check_failed: 'Nous n’avons pas pu confirmer que cet envoi vient d’une personne. Réessayez.',
    'human_check_failed/no-script':
      'Nous n’avons pas pu confirmer que cet envoi vient d’une personne. Activez JavaScript, rechargez cette page, puis réessayez.',
    insufficient_scope: unexpected,
    invitation_for_other_email:
      'Cette invitation est destinée à une autre adresse e-mail. Déconnectez-vous, puis ouvrez à nouveau le lien de l’e-mail.',
    invitation_not_found: 'Cette invitation n’existe pas. Elle a peut-être déjà été acceptée ou révoquée.',
    invalid_api_key: unexpected,
    invalid_callback_url: unexpected,
    invalid_code: 'Ce code est incorrect ou a déjà été utilisé. Vérifiez-le, puis réessayez.',
    invalid_credentials: 'L’adresse e-mail ou le mot de passe est incorrect.',
    invalid_flow:
      'La connexion sur l’autre service a pris trop de temps, ou a été commencée dans un autre navigateur. Réessayez.',
    invalid_json: unexpected,
    invalid_passkey: 'La clé d’accès n’a pas été acceptée. Réessayez.',
    invalid_request: unexpected,
    invalid_session: 'Vous avez été déconnecté. Reconnectez-vous pour continuer.',
    invalid_token: 'Ce lien n’est plus valable : il a déjà été utilisé ou il a expiré.',
    last_owner:
      'Une organisation a besoin d’un propriétaire dont le compte est actif. Donnez d’abord le rôle de propriétaire à un autre membre, ou supprimez l’organisation.',
    last_sign_in_method: 'C’est le seul moyen de se connecter à votre compte. Ajoutez-en d’abord un autre.',
    mail_refused:
      'Cette adresse n’accepte pas les e-mails. Vérifiez qu’elle ne contient pas de faute de frappe.',
    member_not_found: 'Cet utilisateur n’est pas membre. Il a peut-être déjà cessé de l’être.',
    method_not_allowed: unexpected,
    new_password_required:
      'Ce compte a besoin d’un nouveau mot de passe. Ouvrez le lien que nous vous avons envoyé par e-mail.',
    no_passkey: 'Vous n’avez pas encore de clé d’accès. Ajoutez-en d’abord une.',
    organization_full: 'L’organisation a atteint le nombre maximal de membres.',
    organization_in_use:
      'L’organisation ne peut pas encore être supprimée, car d’autres données en dépendent.',
    organization_not_found: 'Cette organisation n’existe pas, ou vous n’en êtes pas membre.',
    origin_not_allowed:
      'Ce formulaire a été envoyé depuis un autre site web, ou depuis une adresse web qui n’est pas l’adresse habituelle de cette application. Ouvrez l’application à son adresse habituelle, puis réessayez.',
    other_browser:
      'Vous avez demandé cet e-mail dans un autre navigateur. Saisissez-y le code de l’e-mail. Si vous n’avez pas demandé cet e-mail, ignorez-le.',
    own_account: 'C’est votre propre compte. Demandez à un autre administrateur de le faire.',
    passkey_exists:
      'Cette clé d’accès est déjà utilisée. Utilisez un autre appareil, ou connectez-vous avec elle.',
    passkey_not_found: 'Cette clé d’accès n’existe pas. Elle a peut-être déjà été supprimée.',
    password_already_set: 'Le compte a déjà un mot de passe. Vous pouvez plutôt le modifier.',
    password_not_set: 'Le compte n’a pas de mot de passe.',
    proof_required: 'Il faut d’autres preuves que ce compte était le vôtre avant la modification.',
    provider_already_linked: 'Un autre compte de ce service est déjà associé. Dissociez-le d’abord.',
    provider_error: 'L’autre service n’a pas répondu comme prévu. Réessayez, ou connectez-vous autrement.',
    permission_required: 'Vous n’êtes pas autorisé à faire cela. Adressez-vous à un administrateur.',
    provider_not_found: 'Ce service n’est pas disponible. Connectez-vous autrement.',
    provider_slow: 'L’autre service met plus de temps que d’habitude. Réessayez dans quelques secondes.',
    rate_limited: 'Trop de tentatives. Réessayez plus tard.',
    /** An email that is asked for once more: the one before still works. */
    'rate_limited/again':
      'Nous ne pouvons pas renvoyer cet e-mail pour l’instant. Utilisez le plus récent que vous avez reçu.',
    reauthentication_required:
      'Vous vous êtes connecté il y a un certain temps. Confirmez votre identité, puis réessayez.',
    refresh_token_missing: 'Ce compte doit être associé à nouveau.',
    relink_required: 'Ce compte doit être associé à nouveau.',
    scope_required: unexpected,
    second_factor_demanded:
      'Votre compte a besoin de l’authentification à deux facteurs. Configurez d’abord une autre application d’authentification ou une autre clé d’accès.',
    second_factor_required:
      'Cela nécessite l’authentification à deux facteurs. Confirmez votre identité, puis réessayez.',
    session_not_found: 'Cette session est déjà terminée.',
    session_required: unexpected,
    sign_in_expired:
      'Cette opération a expiré ou était déjà terminée, ou un code incorrect a été saisi trop souvent. Recommencez.',
    sign_up_incomplete: 'L’autre service n’a pas transmis tout ce dont un compte a besoin.',
    sign_up_refused:
      'Vous ne pouvez pas vous inscrire ici. Demandez un compte aux personnes qui gèrent cette application.',
    target_is_administrator:
      'Cet utilisateur est administrateur : ce n’est donc pas possible ici. Adressez-vous aux personnes qui gèrent cette application.',
    slug_taken: 'Une autre organisation a ce nom court. Choisissez-en un autre.',
    task_required: 'Il reste une étape avant de pouvoir faire cela.',
    too_many_api_keys:
      'Vous avez atteint le nombre maximal de clés. Révoquez-en une dont vous n’avez plus besoin.',
    too_many_invitations:
      'L’organisation a atteint le nombre maximal d’invitations. Révoquez-en une, ou attendez qu’une invitation soit acceptée.',
    too_many_organizations:
      'Vous êtes propriétaire du nombre maximal d’organisations. Supprimez-en une, ou donnez à quelqu’un d’autre la propriété de l’une d’elles.',
    too_many_passkeys:
      'Vous avez atteint le nombre maximal de clés d’accès. Supprimez-en une que vous n’utilisez plus.',
    totp_not_enabled: 'L’authentification à deux facteurs est désactivée. Activez-la d’abord.',
    unauthenticated: 'Vous avez été déconnecté. Reconnectez-vous pour continuer.',
    unavailable: 'Ce n’est pas possible pour le moment.',
    unknown_passkey:
      'Aucun compte n’a cette clé d’accès. Connectez-vous autrement, et supprimez la clé d’accès de votre appareil.',
    unsupported_media_type: unexpected,
    user_not_found: 'Cet utilisateur n’existe pas.',
    username_taken: 'Ce nom d’utilisateur est déjà pris. Choisissez-en un autre.',
    validation_failed: 'Vérifiez ce que vous avez saisi.',
  },

  /** What the errors of a sign-in at a provider mean, with its name. */
  errorsAt: {
    access_denied: (provider) => `Vous avez annulé sur ${provider}. Réessayez, ou connectez-vous autrement.`,
    account_exists: (provider) =>
      `Vous avez déjà un compte avec l’adresse e-mail de votre compte ${provider}. Connectez-vous au compte existant, puis associez ${provider} dans « Sécurité ».`,
    invalid_flow: (provider) =>
      `La connexion sur ${provider} a pris trop de temps, ou a été commencée dans un autre navigateur. Réessayez.`,
    provider_error: (provider) =>
      `${provider} n’a pas répondu comme prévu. Réessayez, ou connectez-vous autrement.`,
    provider_slow: (provider) =>
      `${provider} met plus de temps que d’habitude. Réessayez dans quelques secondes.`,
    sign_up_incomplete: (provider, page) =>
      `${provider} n’a pas transmis tout ce dont un compte a besoin.${page === 'sign-up' ? ' Remplissez plutôt le formulaire.' : ''}`,
  },

  /** The sentence that the exact wait replaces. */
  later: 'Réessayez plus tard.',

  /** What an error means on one page, or in one of its forms. */
  errorsOf: {
    account: { invalid_credentials: 'Ce n’est pas votre mot de passe actuel.' },
    'account/delete': {
      last_owner:
        'Vous êtes le seul propriétaire d’une organisation qui a d’autres membres. Désignez d’abord l’un d’eux comme propriétaire, ou supprimez l’organisation. Rien n’a été supprimé.',
    },
    'account/api-keys': { invalid_credentials: 'Ce n’est pas votre mot de passe actuel.' },
    'account/api-keys/create': {
      '/expires_at': 'Choisissez une date postérieure à aujourd’hui.',
      '/name': 'Saisissez un nom de 100 caractères au maximum.',
      '/scopes':
        'Saisissez les noms de droits indiqués dans la documentation de cette application, séparés par des espaces ou des virgules.',
    },
    'account/organizations/create': {
      admin_required: 'Seuls les administrateurs peuvent créer des organisations.',
      email_not_verified:
        'Confirmez d’abord votre adresse e-mail. Vous pourrez ensuite créer une organisation.',
      '/name': 'Saisissez un nom de 100 caractères au maximum.',
      '/slug': wrongSlug,
    },
    'account/organizations/organization': {
      invalid_credentials: 'Ce n’est pas votre mot de passe actuel.',
      last_owner:
        'Cette organisation n’aurait plus de propriétaire dont le compte est actif. Désignez d’abord un autre membre comme propriétaire. Rien n’a été modifié.',
      permission_required: 'Votre rôle ne le permet pas. Adressez-vous à un propriétaire de l’organisation.',
    },
    'account/organizations/organization/invite': {
      permission_required: 'Votre rôle ne vous permet pas d’inviter quelqu’un avec ce rôle.',
      '/role': unknownRole,
    },
    'account/organizations/organization/remove/:userId': {
      permission_required: 'Votre rôle ne vous permet pas de retirer ce membre.',
    },
    'account/organizations/organization/rename': {
      '/name': 'Saisissez un nom de 100 caractères au maximum.',
      '/slug': wrongSlug,
    },
    'account/organizations/organization/set-role/:userId': {
      permission_required: 'Votre rôle ne vous permet pas de donner ou de retirer ce rôle.',
      '/role': unknownRole,
    },
    'account/security': {
      access_denied: 'Vous avez annulé sur l’autre service : aucun compte n’a donc été associé.',
      email_not_verified:
        'Confirmez d’abord votre adresse e-mail. Vous pourrez ensuite activer l’authentification à deux facteurs et ajouter des clés d’accès.',
      invalid_credentials: 'Ce n’est pas votre mot de passe actuel.',
    },
    'account/security/second-factor/confirm-app': {
      invalid_code:
        'Ce n’est pas le code que votre application affiche actuellement. Attendez le code suivant, et saisissez-le.',
    },
    'administration/users/create': {
      email_taken: 'Un utilisateur a déjà cette adresse e-mail.',
      username_taken: 'Un utilisateur a déjà ce nom d’utilisateur.',
      '/email/required/either': 'Saisissez une adresse e-mail ou un nom d’utilisateur.',
      '/email/required/username': 'Saisissez une adresse e-mail ou un nom d’utilisateur.',
    },
    'administration/users/user/roles': {
      permission_required: 'Un rôle que vous avez modifié permet plus que ce que vous êtes autorisé à faire.',
      '/roles': 'Choisissez des rôles de cette liste. Elle a peut-être changé : rouvrez cette page.',
    },
    'administration/users/user/edit': { username_taken: 'Un autre utilisateur a ce nom d’utilisateur.' },
    'administration/users/user/suspend': { '/until': 'Choisissez une date et une heure à venir.' },
    'change-email/confirm': {
      email_taken: 'Entre-temps, un autre compte a pris cette adresse e-mail.',
      invalid_credentials: 'Ce n’est pas le mot de passe de ce compte.',
      'unauthenticated/password':
        'Saisissez le mot de passe de ce compte, ou ouvrez ce lien là où vous êtes connecté.',
    },
    join: {
      account_exists:
        'Il existe un compte avec cette adresse e-mail. Connectez-vous à ce compte, puis rejoignez l’organisation.',
      invalid_token: 'Cette invitation a déjà été utilisée, remplacée ou révoquée, ou elle a expiré.',
      sign_up_refused:
        'Vous ne pouvez pas créer de compte ici. Demandez-en un aux personnes qui gèrent cette application.',
    },
    invitation: { invalid_token: 'Cette invitation a déjà été utilisée ou elle a expiré.' },
    'reauthenticate/confirm': {
      'invalid_code/code': wrongTotp,
      invalid_credentials: 'Ce n’est pas votre mot de passe actuel.',
      sign_in_expired: codeOver,
    },
    /** The page about a rejected request, whose title says what has happened. */
    refusal: {
      invalid_session: 'Reconnectez-vous pour continuer.',
      unauthenticated: 'Reconnectez-vous pour continuer.',
      invalid_request: '',
    },
    'reset-password/set': {
      '/code': 'Saisissez le code.',
      code_expired: codeOver,
      invalid_code: 'Ce code est incorrect. Vérifiez-le dans l’e-mail le plus récent, puis réessayez.',
    },
    'second-factor/confirm': {
      'invalid_code/totp': wrongTotp,
      sign_in_expired:
        'Cette connexion a expiré, ou un code incorrect a été saisi trop souvent. Reconnectez-vous.',
      'sign_in_expired/email_code':
        'Cette connexion a expiré, ou un code incorrect a été saisi trop souvent. Reconnectez-vous pour obtenir un nouveau code.',
      invalid_credentials: 'Ce code est incorrect ou a déjà été utilisé. Vérifiez-le, puis réessayez.',
    },
    'sign-in/email/confirm': {
      '/code': 'Saisissez le code.',
      invalid_code: 'Ce code est incorrect. Vérifiez-le dans l’e-mail le plus récent, puis réessayez.',
      sign_in_expired: codeOver,
    },
    'sign-in/password': {
      'invalid_credentials/either':
        'L’adresse e-mail, le nom d’utilisateur ou le mot de passe est incorrect.',
      'invalid_credentials/username': 'Le nom d’utilisateur ou le mot de passe est incorrect.',
      'invalid_credentials/email/concealed': `L’adresse e-mail ou le mot de passe est incorrect${unconfirmed}`,
      'invalid_credentials/either/concealed': `L’adresse e-mail, le nom d’utilisateur ou le mot de passe est incorrect${unconfirmed}`,
    },
    'sign-in/send-code': {
      '/email': 'Pour recevoir un code, saisissez votre adresse e-mail, par exemple ada@example.com.',
    },
    'sign-in': {
      invalid_passkey: 'La clé d’accès n’a pas été acceptée. Réessayez, ou connectez-vous autrement.',
    },
    'sign-up': {
      sign_up_incomplete:
        'L’autre service n’a pas transmis tout ce dont un compte a besoin. Remplissez plutôt le formulaire.',
    },
    'sign-up/password': {
      email_taken: 'Vous avez déjà un compte avec cette adresse e-mail.',
      '/email/required/either': 'Saisissez une adresse e-mail, un nom d’utilisateur ou les deux.',
    },
    'undo-change/confirm': {
      'invalid_code/code':
        'Ce code est incorrect ou a déjà été utilisé. Attendez le code suivant de l’application que vous aviez avant la modification.',
      'invalid_code/recovery_code':
        'Ce code de récupération est incorrect ou a déjà été utilisé. Saisissez-en un que vous aviez avant la modification.',
      invalid_credentials: 'Ce n’était pas votre mot de passe avant la modification.',
      'invalid_code/account-deleted/code': wrongTotp,
      'invalid_code/account-deleted/recovery_code':
        'Ce code de récupération est incorrect ou a déjà été utilisé. Saisissez-en un autre.',
      'invalid_credentials/account-deleted/password': 'Ce n’est pas le mot de passe de ce compte.',
      'proof_required/account-deleted/password': ownPassword,
      'proof_required/code':
        'Saisissez un code de votre application d’authentification, ou un code de récupération.',
      'proof_required/password': 'Saisissez le mot de passe que le compte avait avant cette modification.',
    },
    'verify-email/confirm': {
      invalid_code: 'Ce code est incorrect. Vérifiez-le dans l’e-mail le plus récent, puis réessayez.',
      invalid_credentials: 'Ce n’est pas le mot de passe de ce compte.',
      'unauthenticated/password': ownPassword,
    },
  },

  /** What to enter in a field that was left empty, by the field's name. After a slash, only if the app signs in by that. */
  missing: {
    code: 'Saisissez le code.',
    confirmation: 'Saisissez ce texte pour confirmer. Rien n’a été supprimé.',
    credential: 'Saisissez votre adresse e-mail ou votre nom d’utilisateur.',
    'credential/email': 'Saisissez votre adresse e-mail.',
    'credential/username': 'Saisissez votre nom d’utilisateur.',
    email: 'Saisissez une adresse e-mail.',
    email_code: 'Saisissez le code.',
    name: 'Saisissez un nom.',
    new_email: 'Saisissez votre nouvelle adresse e-mail.',
    slug: 'Saisissez un nom court.',
    new_password: 'Saisissez un nouveau mot de passe.',
    password: 'Saisissez un mot de passe.',
    recovery_code: 'Saisissez un code de récupération.',
    scopes: 'Choisissez au moins un droit.',
    username: 'Saisissez un nom d’utilisateur.',
  },

  /** What is wrong with a field of the app whose pattern does not allow the value. */
  wrongFormat: (label: string, hint: string | null) =>
    `Vérifiez le format de « ${label} ».${hint === null ? '' : ` ${hint}`}`,
  /** What is missing in a list of values. */
  notChosen: 'Choisissez l’une de ces options.',

  wholeLink: 'Si le lien est incomplet, copiez-le en entier depuis l’e-mail.',
  otherAccount: (account: string) =>
    `Vous êtes maintenant connecté en tant que ${account}, mais ce formulaire était celui d’un autre compte. Rien n’a été modifié.`,
  /** What is wrong with a field, by the code of its error. Other errors keep their own words. */
  fieldErrors: {
    not_confirmed: 'Ce que vous avez saisi ne correspond pas. Rien n’a été supprimé.',
    invalid_email: 'Saisissez une adresse e-mail, par exemple ada@example.com.',
    /** Instead of `invalid_email`, if there is a letter such as é before the @. */
    internationalized_email:
      'Saisissez une adresse e-mail sans accents ni autres lettres spéciales avant le @.',
    other_account: 'Entre-temps, vous vous êtes connecté à un autre compte. Rien n’a été modifié.',
    password_breached: 'Ce mot de passe figure dans une fuite de données connue. Choisissez-en un autre.',
    password_is_identifier:
      'Choisissez un mot de passe qui n’est ni votre adresse e-mail ni votre nom d’utilisateur.',
    password_too_common: 'Ce mot de passe est facile à deviner. Choisissez-en un autre.',
    required: 'Remplissez ce champ.',
    same_email: 'C’est déjà votre adresse e-mail.',
    same_password: 'C’est votre mot de passe actuel. Choisissez-en un autre.',
    taken: 'Cette valeur est déjà prise. Choisissez-en une autre.',
    unknown_key: 'Ce champ n’est pas attendu ici. Rechargez la page, puis réessayez.',
    wrong_type: 'Cette valeur n’est pas possible ici. Vérifiez-la, puis réessayez.',
    /** After a slash, only for the app's own fields of this type. */
    'wrong_type/integer': 'Saisissez un nombre entier, par exemple 45.',
    'wrong_type/number': 'Saisissez un nombre.',
    'invalid/plainDate': 'Saisissez une date.',
  },

  /** The links to the next step after an error. */
  steps: {
    'forgot-password': 'Réinitialiser votre mot de passe',
    reauthenticate: 'Confirmer votre identité',
    'sign-in': 'Se connecter',
    'sign-up': 'Créer un compte',
    support: 'Contacter l’assistance',
    'verify-email': 'Confirmer votre adresse e-mail',
  },
};
