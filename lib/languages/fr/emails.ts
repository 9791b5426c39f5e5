import { emailFormatsIn } from '../../words/email-formats.js';
import type { Deletion } from '../../words/emails/deletion.js';
import type { EmailWords } from '../../words/emails/index.js';
import { pluralsIn } from '../../words/plural.js';

const { date, time, duration } = emailFormatsIn('fr');

const plural = pluralsIn('fr');

const BROWSERS = new Intl.ListFormat('fr', { type: 'disjunction' });

/** The sentences that say that an account was deleted, and how it can be restored. */
function deletion({ at, until }: Deletion): string {
  return until === null
    ? `Votre compte a été supprimé le ${date(at)}.`
    : `Votre compte a été supprimé le ${date(at)}. Jusqu’au ${date(until)}, il peut être restauré : avec le lien de notre e-mail sur la suppression, ou par les personnes qui gèrent cette application.`;
}

/** The words of emails in French. */
export const emails: EmailWords = {
  date,
  time,
  duration,
  linkExpiry: ({ ms, until }) =>
    until === null
      ? `Le lien expire dans ${duration(ms)}.`
      : `Le lien expire dans ${duration(ms)}, le ${time(until)}.`,
  codeExpiry: ({ ms, until }) => `Le code est valable ${duration(ms)}, jusqu’au ${time(until)}.`,
  within: ({ ms, until }) =>
    until === null
      ? `dans un délai de ${duration(ms)}`
      : `dans un délai de ${duration(ms)}, soit jusqu’au ${date(until)}`,
  openLink: 'Ou ouvrez ce lien :',

  labels: { account: 'Compte', subject: 'Objet', time: 'Date', device: 'Appareil', ip: 'Adresse IP' },
  detail: (label, value) => `${label} : ${value}`,
  unknownDevice: 'un appareil inconnu',
  unknownBrowser: 'un navigateur inconnu',
  deviceOn: (browser, system) => `${browser} sur ${system}`,
  browserOn: (system) => `un navigateur sur ${system}`,

  unverified:
    'Vous recevez cet e-mail, car quelqu’un a utilisé votre adresse pour un compte. Si vous n’avez pas de compte, ignorez cet e-mail.',
  undo: ({ within }) => `Si ce n’était pas vous, annulez cette modification ici ${within} :`,
  undoAction: 'Ce n’était pas moi',
  undoWhere: (browsers) =>
    browsers.length === 0
      ? 'Ouvrez ce lien sur un appareil que vous utilisiez déjà avant cette modification. Votre mot de passe vous sera peut-être demandé.'
      : `Ouvrez ce lien sur un appareil que vous utilisiez déjà avant cette modification, par exemple ${BROWSERS.format(browsers)}. Votre mot de passe vous sera peut-être demandé.`,
  undoNowhere: {
    newPassword: {
      text: 'Si ce n’était pas vous, choisissez un nouveau mot de passe :',
      action: 'Choisir un nouveau mot de passe',
    },
    // "Contactez" suits an address, a URL and the words of `people`.
    afterNewPassword: ({ support, within, url }) =>
      `Contactez ensuite ${support}. Pour annuler ce qui a été fait, l’assistance a besoin de ce lien ${within} : ${url}`,
    withoutNewPassword: ({ support, within, url }) =>
      `Si ce n’était pas vous, contactez ${support}. Pour annuler ce qui a été fait, l’assistance a besoin de ce lien ${within} : ${url}`,
  },
  help: {
    byApp: ({ support }) =>
      `L’application ou un administrateur a fait cette modification. Si vous ne vous y attendiez pas, contactez ${support}.`,
    notYou: ({ support }) => `Si ce n’était pas vous, contactez ${support}.`,
  },
  people: (appName) => `les personnes qui gèrent ${appName ?? 'ce service'}`,

  texts: {
    'verify-email': {
      subject: 'Confirmez votre adresse e-mail',
      before: 'Veuillez confirmer que cette adresse e-mail est la vôtre :',
      action: 'Confirmer l’adresse',
      after: ({ expiry }) => `${expiry} Si vous ne vous êtes pas inscrit, vous pouvez ignorer cet e-mail.`,
    },
    'verify-new-email': {
      subject: 'Confirmez votre nouvelle adresse e-mail',
      before: 'Veuillez confirmer que cette adresse e-mail est la nouvelle adresse de votre compte :',
      action: 'Confirmer l’adresse',
      after: ({ expiry }) =>
        `${expiry} Si vous n’avez rien demandé, ignorez cet e-mail : rien n’a été modifié.`,
    },
    'reset-password': {
      subject: 'Choisissez un nouveau mot de passe',
      before:
        'Quelqu’un a demandé un nouveau mot de passe pour votre compte. Si c’était vous, choisissez-en un ici :',
      action: 'Choisir un nouveau mot de passe',
      after: ({ expiry }) =>
        `${expiry} Si ce n’était pas vous, ignorez cet e-mail : votre mot de passe n’a pas été modifié.`,
    },
    'reset-password/existing-account': {
      subject: 'Vous avez déjà un compte',
      first: {
        text: 'Quelqu’un s’est inscrit avec votre adresse e-mail, mais vous avez déjà un compte. Si c’était vous, connectez-vous comme d’habitude.',
        action: 'Se connecter',
      },
      before: 'Si vous avez oublié votre mot de passe, choisissez-en un nouveau ici :',
      action: 'Choisir un nouveau mot de passe',
      after: ({ expiry }) => `${expiry} Si ce n’était pas vous, ignorez cet e-mail : rien n’a été modifié.`,
    },
    'reset-password/required': {
      subject: 'Choisissez un nouveau mot de passe',
      before:
        'Vous avez saisi votre mot de passe, et votre compte en a besoin d’un nouveau. Choisissez-le ici :',
      action: 'Choisir un nouveau mot de passe',
      after: ({ expiry }) =>
        `${expiry} Si ce n’était pas vous, quelqu’un connaît votre mot de passe : choisissez-en un nouveau avec ce lien.`,
    },
    'reset-password/by-administrator': {
      subject: 'Choisissez un nouveau mot de passe',
      before: ({ appName }) =>
        appName === null
          ? 'Un administrateur vous demande de choisir un nouveau mot de passe pour votre compte. Choisissez-en un ici :'
          : `Un administrateur de ${appName} vous demande de choisir un nouveau mot de passe pour votre compte. Choisissez-en un ici :`,
      action: 'Choisir un nouveau mot de passe',
      after: ({ expiry }) =>
        `${expiry} Tant que vous n’avez pas choisi de nouveau mot de passe, l’actuel ne change pas.`,
    },
    'reset-password/restored': {
      subject: 'Choisissez un nouveau mot de passe',
      before:
        'Votre compte a été restauré. Toutes les sessions sont terminées, et l’ancien mot de passe ne fonctionne plus. Choisissez un nouveau mot de passe ici :',
      action: 'Choisir un nouveau mot de passe',
      after: ({ expiry }) => expiry,
      last: {
        text: 'Passé ce délai, vous pourrez demander un autre lien là où vous vous connectez.',
        action: 'Demander un autre lien',
      },
    },
    'reset-password/undone': {
      subject: 'Choisissez un nouveau mot de passe',
      before:
        'Une modification de votre compte a été annulée. Toutes les sessions sont terminées, et le mot de passe a été supprimé, car quelqu’un d’autre le connaît peut-être. Choisissez un nouveau mot de passe ici :',
      action: 'Choisir un nouveau mot de passe',
      after: ({ expiry }) => expiry,
      last: {
        text: 'Passé ce délai, vous pourrez demander un autre lien là où vous vous connectez.',
        action: 'Demander un autre lien',
      },
    },
    invitation: {
      subject: 'Votre nouveau compte',
      before: 'Un compte a été créé pour vous. Choisissez un mot de passe ici :',
      action: 'Choisir un mot de passe',
      after: ({ expiry }) => `${expiry} Si vous ne vous y attendiez pas, vous pouvez ignorer cet e-mail.`,
    },
    'organization-invitation': {
      subject: 'Invitation à rejoindre une organisation',
      before: ({ inviter, organization }) =>
        inviter === null
          ? `Vous avez reçu une invitation à rejoindre ${organization}.`
          : `${inviter} vous invite à rejoindre ${organization}.`,
      action: 'Voir l’invitation',
      after: ({ expiry }) => `${expiry} Si vous ne savez pas qui vous invite, ignorez cet e-mail.`,
    },

    'browser-code': {
      subject: 'Votre code de connexion',
      before:
        'Quelqu’un a saisi le mot de passe de votre compte dans un navigateur qui est nouveau pour ce compte. Si c’était vous, saisissez-y ce code :',
      help: 'Si ce n’était pas vous, quelqu’un connaît votre mot de passe, mais ne peut pas se connecter sans le code. Choisissez un nouveau mot de passe ici :',
      action: 'Choisir un nouveau mot de passe',
    },
    'verification-code': {
      subject: 'Votre code pour confirmer votre adresse e-mail',
      before:
        'Veuillez confirmer que cette adresse e-mail est la vôtre. Saisissez ce code là où vous vous êtes connecté ou inscrit :',
      help: 'Si ce n’était pas vous, vous pouvez ignorer cet e-mail. Ne communiquez ce code à personne.',
    },
    'reset-code': {
      subject: 'Votre code pour un nouveau mot de passe',
      before:
        'Quelqu’un a demandé un nouveau mot de passe pour votre compte. Si c’était vous, saisissez ce code dans le navigateur où vous l’avez demandé :',
      help: 'Si ce n’était pas vous, ignorez cet e-mail : votre mot de passe n’a pas été modifié. Ne communiquez ce code à personne.',
    },
    'sign-in-code': {
      subject: 'Votre code de connexion',
      before: 'Saisissez ce code dans le navigateur où vous l’avez demandé :',
      beforeLink: 'Dans le même navigateur, vous pouvez aussi utiliser ce lien à la place :',
      action: 'Se connecter',
      help: 'Si vous ne l’avez pas demandé, ignorez cet e-mail. Personne ne peut se connecter sans ce code : ne le communiquez donc à personne.',
    },
    'sign-in-code/reauthentication': {
      subject: 'Votre code',
      before: 'Pour confirmer votre identité, saisissez ce code dans le navigateur où vous l’avez demandé :',
      beforeLink: 'Dans le même navigateur, vous pouvez aussi utiliser ce lien à la place :',
      action: 'Se connecter',
      help: 'Ne communiquez ce code à personne.',
      advice: {
        text: 'Si vous ne l’avez pas demandé, quelqu’un d’autre est peut-être connecté à votre compte. Consultez vos sessions, et déconnectez-vous de celles que vous ne reconnaissez pas.',
        action: 'Consulter vos sessions',
      },
    },
    'no-account': {
      subject: 'Aucun compte avec votre adresse e-mail',
      before:
        'Quelqu’un a demandé à se connecter avec cette adresse e-mail, mais aucun compte n’a cette adresse.',
      beforeLink: 'Si c’était vous, utilisez l’adresse de votre compte, ou inscrivez-vous ici :',
      action: 'S’inscrire',
      help: 'Si vous n’avez rien demandé, ignorez cet e-mail.',
    },
    'no-account/deleted': {
      subject: 'Votre compte a été supprimé',
      before: (values) => `Quelqu’un a demandé à se connecter avec cette adresse e-mail. ${deletion(values)}`,
      help: 'Si vous n’avez rien demandé, ignorez cet e-mail.',
    },
    'account-exists': {
      subject: 'Vous avez déjà un compte',
      before:
        'Quelqu’un a essayé de s’inscrire avec cette adresse e-mail, mais il existe déjà un compte avec cette adresse.',
      beforeLink:
        'Si c’était vous, connectez-vous. Si vous ne connaissez pas le mot de passe, choisissez-en un nouveau ici :',
      action: 'Choisir un nouveau mot de passe',
      help: 'Si ce n’était pas vous, ignorez cet e-mail : rien n’a été modifié.',
    },

    'password-set': {
      subject: 'Un mot de passe a été défini pour votre compte',
      lines: [
        'Votre compte n’avait pas de mot de passe, et en a un maintenant. Toute personne qui connaît le mot de passe peut se connecter.',
      ],
    },
    'password-changed': {
      subject: 'Votre mot de passe a été modifié',
      lines: ['Le mot de passe de votre compte a été modifié.'],
    },
    'password-removed': {
      subject: 'Votre mot de passe a été supprimé',
      lines: [
        'Votre compte n’a plus de mot de passe. Vos autres méthodes de connexion fonctionnent toujours.',
      ],
    },
    'password-removed/first-proof': {
      subject: 'Votre mot de passe a été supprimé',
      lines: [
        'Pour la première fois, quelqu’un s’est connecté à votre compte avec un code envoyé par e-mail à cette adresse. Votre compte avait un mot de passe que quelqu’un d’autre avait peut-être choisi auparavant : il a donc été supprimé.',
        'Si vous voulez vous connecter avec un mot de passe, choisissez-en un nouveau.',
      ],
    },
    'new-password-required': {
      subject: 'Choisissez un nouveau mot de passe',
      lines: ['Votre compte a besoin d’un nouveau mot de passe, et toutes les sessions sont terminées.'],
      advice: {
        text: 'Connectez-vous une dernière fois avec votre mot de passe actuel. Choisissez-en ensuite un nouveau, sur la page ou avec un lien que nous vous enverrons par e-mail.',
        action: 'Se connecter',
      },
    },
    'email-change-requested': {
      subject: 'Votre adresse e-mail est sur le point de changer',
      lines: [
        'Une personne connectée à votre compte a demandé à en modifier l’adresse e-mail. Un lien de confirmation a été envoyé à la nouvelle adresse.',
      ],
      advice: {
        text: 'Si c’était vous, vous n’avez rien à faire. Si vous avez changé d’avis, annulez la modification là où vous l’avez demandée. Si ce n’était pas vous, définissez ou modifiez votre mot de passe maintenant, pour que le lien de confirmation cesse de fonctionner.',
        action: 'Modifier votre mot de passe',
      },
    },
    'email-changed': {
      subject: 'Votre adresse e-mail a été modifiée',
      lines: [
        'Votre compte a une nouvelle adresse e-mail. L’adresse à laquelle vous recevez cet e-mail n’appartient plus à votre compte.',
      ],
    },
    'email-change-conflict': {
      subject: 'Vous avez déjà un compte avec cette adresse e-mail',
      lines: [
        'Quelqu’un a demandé que cette adresse e-mail devienne celle d’un autre compte. Rien n’a été modifié, car votre compte a cette adresse.',
      ],
      advice: {
        text: 'Si c’était vous, connectez-vous d’abord au compte qui a cette adresse e-mail, puis modifiez son adresse ou supprimez ce compte. Si ce n’était pas vous, ignorez cet e-mail.',
        action: 'Se connecter',
      },
    },
    'username-changed': {
      subject: 'Votre nom d’utilisateur a été modifié',
      lines: [
        'Votre compte a un nouveau nom d’utilisateur. Vous ne pouvez plus vous connecter avec l’ancien.',
      ],
    },
    'device-forgotten': {
      subject: 'Votre compte a oublié un navigateur',
      lines: [
        'Un navigateur a été retiré de la liste des navigateurs que votre compte connaît. La prochaine connexion y comptera comme une connexion dans un nouveau navigateur.',
      ],
      about: 'Navigateur',
    },
    'new-device': {
      subject: 'Une connexion dans un nouveau navigateur',
      lines: ['Quelqu’un s’est connecté à votre compte dans un navigateur qui est nouveau pour ce compte.'],
      undo: ({ within }) =>
        `Si ce n’était pas vous, déconnectez-vous partout et annulez toutes les modifications ultérieures ici ${within} :`,
    },
    'data-exported': {
      subject: 'Les données de votre compte ont été téléchargées',
      lines: [
        'Quelqu’un s’est connecté à votre compte et a téléchargé un fichier contenant les données enregistrées à votre sujet.',
      ],
      undo: ({ within }) =>
        `Si ce n’était pas vous, déconnectez-vous partout et annulez toutes les modifications ultérieures ici ${within} :`,
    },
    'second-factor-enabled': {
      subject: 'L’authentification à deux facteurs a été activée',
      lines: [
        'Désormais, la connexion à votre compte nécessite aussi un code de votre application d’authentification. Toutes les autres sessions sont terminées.',
      ],
    },
    'second-factor-enabled/passkeys': {
      subject: 'L’authentification à deux facteurs a été activée',
      lines: [
        'Désormais, la connexion à votre compte nécessite aussi l’une de vos clés d’accès. Toutes les autres sessions sont terminées.',
      ],
    },
    'second-factor-enabled/passkey-added': {
      subject: 'L’authentification à deux facteurs a été activée',
      lines: [
        'Une clé d’accès a été ajoutée à votre compte. Désormais, la connexion à votre compte nécessite l’une de vos clés d’accès. Toutes les autres sessions sont terminées.',
      ],
      about: 'Clé d’accès',
    },
    'second-factor-disabled': {
      subject: 'L’authentification à deux facteurs a été désactivée',
      lines: [
        'La connexion à votre compte ne nécessite plus l’authentification à deux facteurs. Vos codes de récupération ont aussi été supprimés.',
      ],
    },
    'second-factor-disabled/everything': {
      subject: 'L’authentification à deux facteurs a été désactivée',
      lines: [
        'Votre compte n’a plus d’authentification à deux facteurs. Ses clés d’accès et ses codes de récupération ont été supprimés. Lorsque vous vous connecterez, il vous sera demandé de la configurer à nouveau.',
      ],
    },
    'second-factor-disabled/passkeys': {
      subject: 'L’authentification à deux facteurs a été désactivée',
      lines: [
        'La connexion à votre compte ne nécessite plus l’une de vos clés d’accès comme deuxième étape. Vos codes de récupération ont aussi été supprimés.',
      ],
    },
    'second-factor-disabled/codes-stay': {
      subject: 'Vos clés d’accès ne sont plus la deuxième étape',
      lines: [
        'La connexion à votre compte ne nécessite plus l’une de vos clés d’accès. Elle nécessite toujours un code de votre application d’authentification.',
      ],
    },
    'second-factor-disabled/passkeys-stay': {
      subject: 'Votre application d’authentification a été retirée',
      lines: [
        'La connexion à votre compte ne nécessite plus de code de votre application d’authentification. Elle nécessite toujours l’une de vos clés d’accès.',
      ],
    },
    'recovery-code-used': {
      subject: 'Un code de récupération a été utilisé',
      lines: [
        'Quelqu’un a utilisé l’un des codes de récupération de votre compte au lieu d’un code de votre application d’authentification ou d’une clé d’accès. Ce code de récupération ne peut plus être utilisé.',
      ],
    },
    'recovery-codes-renewed': {
      subject: 'Vous avez de nouveaux codes de récupération',
      lines: ['Votre compte a de nouveaux codes de récupération. Les codes précédents ne fonctionnent plus.'],
    },
    'second-factor-attempts': {
      subject: 'Quelqu’un connaît peut-être votre mot de passe',
      lines: [
        'Dix codes incorrects de suite ont été saisis pour votre compte, après le bon mot de passe ou une autre première étape.',
      ],
      advice: {
        text: 'Si ce n’était pas vous, modifiez votre mot de passe maintenant. L’authentification à deux facteurs a protégé votre compte.',
        action: 'Modifier votre mot de passe',
      },
    },
    'passkey-added': {
      subject: 'Une clé d’accès a été ajoutée à votre compte',
      lines: [
        'Une clé d’accès a été ajoutée à votre compte. Toute personne qui l’a peut se connecter à votre compte.',
      ],
      about: 'Clé d’accès',
    },
    'passkey-removed': {
      subject: 'Une clé d’accès a été supprimée de votre compte',
      lines: ['Une clé d’accès a été supprimée de votre compte. Elle ne permet plus de se connecter.'],
      about: 'Clé d’accès',
    },
    'passkey-removed/last': {
      subject: 'Une clé d’accès a été supprimée de votre compte',
      lines: [
        'Une clé d’accès a été supprimée de votre compte. Elle ne permet plus de se connecter.',
        'C’était votre dernière clé d’accès : une connexion avec votre mot de passe n’en demande donc plus. Si vous n’avez pas d’application d’authentification, vos codes de récupération ont aussi été supprimés.',
      ],
      about: 'Clé d’accès',
    },
    'provider-linked': {
      subject: 'Une méthode de connexion a été ajoutée à votre compte',
      lines: [
        'Un compte d’un autre service a été associé au vôtre. Toute personne qui a ce compte peut maintenant se connecter ici.',
      ],
      about: 'Service',
    },
    'provider-unlinked': {
      subject: 'Une méthode de connexion a été supprimée de votre compte',
      lines: ['Votre compte n’est plus associé à un compte d’un autre service.'],
      about: 'Service',
    },
    'api-key-created': {
      subject: 'Une clé API a été créée pour votre compte',
      lines: [
        'Une clé API a été créée. Les programmes qui l’ont peuvent agir en votre nom sans se connecter.',
      ],
      about: 'Clé API',
    },
    'account-deleted': {
      subject: 'Votre compte a été supprimé',
      lines: ['Votre compte a été supprimé, avec tout ce qui lui appartenait.'],
    },
    'account-deleted/pending': {
      subject: 'Votre compte a été supprimé',
      lines: ({ days, until }) => [
        `Votre compte a été supprimé. Personne ne peut s’y connecter. Dans ${days} ${plural(days, { one: 'jour', many: 'de jours', other: 'jours' })}, le ${date(until)}, il sera définitivement supprimé, avec tout ce qui lui appartient.`,
      ],
      undo: ({ within }) =>
        `Si ce n’était pas vous, ou si vous avez changé d’avis, restaurez le compte ici ${within} :`,
      action: 'Restaurer le compte',
    },
    'deleted-account': {
      subject: 'Votre compte a été supprimé',
      lines: (values) => [
        'Quelqu’un a demandé un nouveau mot de passe avec cette adresse e-mail, ou s’est inscrit avec celle-ci.',
        deletion(values),
        'Aucun nouveau mot de passe ne peut être choisi pour ce compte. Si ce n’était pas vous, ignorez cet e-mail : rien n’a été modifié.',
      ],
    },
    'account-recovered': {
      subject: 'Une modification de votre compte a été annulée',
      lines: [
        'Quelqu’un a utilisé le lien d’un e-mail précédent pour annuler une modification de votre compte et toutes les modifications ultérieures. Toutes les sessions sont terminées.',
      ],
    },
    'account-recovered/deletion': {
      subject: 'Votre compte a été restauré',
      lines: [
        'Quelqu’un a utilisé le lien d’un e-mail précédent pour restaurer votre compte, qui avait été supprimé.',
      ],
    },
    'administrator-acted': {
      subject: 'Un administrateur a ouvert votre compte',
      lines: [
        'Une personne qui gère cette application a ouvert votre compte, pour voir l’application comme vous la voyez. Votre mot de passe et vos autres méthodes de connexion ne peuvent être ni vus ni modifiés de cette façon.',
      ],
    },
    'administrator-added': {
      subject: 'Vous êtes maintenant administrateur',
      lines: [
        'Votre compte a reçu un rôle qui fait de vous un administrateur. Si vous ne vous y attendiez pas, prévenez les personnes qui gèrent cette application.',
      ],
    },
    'administrator-added/others': {
      subject: 'Un utilisateur est maintenant administrateur',
      lines: [
        'Un utilisateur a reçu un rôle qui fait de lui un administrateur. Si vous ne vous y attendiez pas, retirez ce rôle à l’utilisateur, et cherchez qui le lui a donné.',
      ],
      about: 'Identifiant de l’utilisateur',
    },
    'organization-owner-added': {
      subject: 'Une organisation a un nouveau propriétaire',
      lines: [
        'Un membre est devenu propriétaire d’une organisation dont vous êtes propriétaire. Les propriétaires peuvent tout y faire, y compris la supprimer.',
        'Si vous ne vous y attendiez pas, renseignez-vous auprès des autres propriétaires, ou modifiez le rôle du nouveau propriétaire.',
      ],
      about: 'Organisation',
    },
    'organization-owner-added/new-owner': {
      subject: 'Vous êtes maintenant propriétaire d’une organisation',
      lines: [
        'Vous êtes devenu propriétaire d’une organisation. Les propriétaires peuvent tout y faire, y compris la supprimer.',
        'Si vous ne vous y attendiez pas, renseignez-vous auprès des autres propriétaires.',
      ],
      about: 'Organisation',
    },
  },
};
