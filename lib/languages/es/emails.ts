import { emailFormatsIn } from '../../words/email-formats.js';
import type { EmailWords } from '../../words/emails/index.js';
import { pluralsIn } from '../../words/plural.js';

const { date, time, duration } = emailFormatsIn('es');
const plural = pluralsIn('es');
const browserNames = new Intl.ListFormat('es', { type: 'disjunction' });

/** The sentences that say that an account was deleted, and how it can be restored. */
function deletion({ at, until }: { readonly at: Date; readonly until: Date | null }): string {
  return until === null
    ? `Tu cuenta se eliminó el ${date(at)}.`
    : `Tu cuenta se eliminó el ${date(at)}. Hasta el ${date(until)}, se puede restaurar: con el enlace de nuestro correo sobre la eliminación o con la ayuda de quienes gestionan esta app.`;
}

function undoAllLater({ within }: { readonly within: string }): string {
  return `Si no fuiste tú, cierra sesión en todos los dispositivos y deshaz todos los cambios posteriores aquí ${within}:`;
}

/** The words of emails in Spanish. */
export const emails: EmailWords = {
  date,
  time,
  duration,
  linkExpiry: ({ ms, until }) =>
    until === null
      ? `El enlace caduca dentro de ${duration(ms)}.`
      : `El enlace caduca dentro de ${duration(ms)}, el ${time(until)}.`,
  codeExpiry: ({ ms, until }) => `El código es válido durante ${duration(ms)}, hasta el ${time(until)}.`,
  within: ({ ms, until }) =>
    until === null
      ? `en un plazo de ${duration(ms)}`
      : `en un plazo de ${duration(ms)} (hasta el ${date(until)})`,
  openLink: 'O abre este enlace:',

  labels: {
    account: 'Cuenta',
    subject: 'Qué',
    time: 'Fecha y hora',
    device: 'Dispositivo',
    ip: 'Dirección IP',
  },
  detail: (label, value) => `${label}: ${value}`,
  unknownDevice: 'un dispositivo desconocido',
  unknownBrowser: 'un navegador desconocido',
  deviceOn: (browser, system) => `${browser} en ${system}`,
  browserOn: (system) => `un navegador en ${system}`,

  unverified:
    'Recibes este correo porque alguien usó tu dirección para una cuenta. Si no tienes ninguna cuenta, ignora este correo.',
  undo: ({ within }) => `Si no fuiste tú, deshaz el cambio aquí ${within}:`,
  undoAction: 'No fui yo',
  undoWhere: (browsers) =>
    browsers.length === 0
      ? 'Abre el enlace en un dispositivo que hayas usado antes de este cambio. Es posible que se te pida la contraseña.'
      : `Abre el enlace en un dispositivo que hayas usado antes de este cambio, como ${browserNames.format(browsers)}. Es posible que se te pida la contraseña.`,
  undoNowhere: {
    newPassword: {
      text: 'Si no fuiste tú, elige una nueva contraseña:',
      action: 'Elegir una nueva contraseña',
    },
    afterNewPassword: ({ support, within, url }) =>
      `Después, pide ayuda a ${support}. Para deshacer lo que se hizo, necesitarán este enlace ${within}: ${url}`,
    withoutNewPassword: ({ support, within, url }) =>
      `Si no fuiste tú, pide ayuda a ${support}. Para deshacer lo que se hizo, necesitarán este enlace ${within}: ${url}`,
  },
  help: {
    byApp: ({ support }) =>
      `La app o un administrador hizo este cambio. Si no lo esperabas, pide ayuda a ${support}.`,
    notYou: ({ support }) => `Si no fuiste tú, pide ayuda a ${support}.`,
  },
  people: (appName) => `quienes gestionan ${appName ?? 'este servicio'}`,

  texts: {
    'verify-email': {
      subject: 'Confirma tu correo electrónico',
      before: 'Confirma que este correo electrónico es tuyo:',
      action: 'Confirmar la dirección',
      after: ({ expiry }) => `${expiry} Si no has creado una cuenta, puedes ignorar este correo.`,
    },
    'verify-new-email': {
      subject: 'Confirma tu nuevo correo electrónico',
      before: 'Confirma que este es el nuevo correo electrónico de tu cuenta:',
      action: 'Confirmar la dirección',
      after: ({ expiry }) => `${expiry} Si no lo pediste, ignora este correo: no ha cambiado nada.`,
    },
    'reset-password': {
      subject: 'Elige una nueva contraseña',
      before: 'Alguien solicitó una nueva contraseña para tu cuenta. Si fuiste tú, elígela aquí:',
      action: 'Elegir una nueva contraseña',
      after: ({ expiry }) => `${expiry} Si no fuiste tú, ignora este correo: tu contraseña no ha cambiado.`,
    },
    'reset-password/existing-account': {
      subject: 'Ya tienes una cuenta',
      first: {
        text: 'Alguien quiso crear una cuenta con tu correo electrónico, pero ya tienes una. Si fuiste tú, inicia sesión como siempre.',
        action: 'Iniciar sesión',
      },
      before: 'Si olvidaste tu contraseña, elige una nueva aquí:',
      action: 'Elegir una nueva contraseña',
      after: ({ expiry }) => `${expiry} Si no fuiste tú, ignora este correo: no ha cambiado nada.`,
    },
    'reset-password/required': {
      subject: 'Elige una nueva contraseña',
      before: 'Escribiste tu contraseña, y tu cuenta necesita una nueva. Elígela aquí:',
      action: 'Elegir una nueva contraseña',
      after: ({ expiry }) =>
        `${expiry} Si no fuiste tú, alguien conoce tu contraseña: elige una nueva con este enlace.`,
    },
    'reset-password/by-administrator': {
      subject: 'Elige una nueva contraseña',
      before: ({ appName }) =>
        appName === null
          ? 'Un administrador te pide que elijas una nueva contraseña para tu cuenta. Elígela aquí:'
          : `Un administrador de ${appName} te pide que elijas una nueva contraseña para tu cuenta. Elígela aquí:`,
      action: 'Elegir una nueva contraseña',
      after: ({ expiry }) => `${expiry} Hasta que elijas una nueva contraseña, la actual no cambia.`,
    },
    'reset-password/restored': {
      subject: 'Elige una nueva contraseña',
      before:
        'Se restauró tu cuenta. Se cerraron todas las sesiones, y la contraseña anterior ya no funciona. Elige una nueva contraseña aquí:',
      action: 'Elegir una nueva contraseña',
      after: ({ expiry }) => expiry,
      last: {
        text: 'Después, puedes solicitar otro enlace en la página de inicio de sesión.',
        action: 'Solicitar otro enlace',
      },
    },
    'reset-password/undone': {
      subject: 'Elige una nueva contraseña',
      before:
        'Se deshizo un cambio de tu cuenta. Se cerraron todas las sesiones y se quitó la contraseña, porque otra persona podría conocerla. Elige una nueva contraseña aquí:',
      action: 'Elegir una nueva contraseña',
      after: ({ expiry }) => expiry,
      last: {
        text: 'Después, puedes solicitar otro enlace en la página de inicio de sesión.',
        action: 'Solicitar otro enlace',
      },
    },
    invitation: {
      subject: 'Tu nueva cuenta',
      before: 'Se creó una cuenta para ti. Elige una contraseña aquí:',
      action: 'Elegir una contraseña',
      after: ({ expiry }) => `${expiry} Si no esperabas este correo, puedes ignorarlo.`,
    },
    'organization-invitation': {
      subject: 'Tienes una invitación a una organización',
      before: ({ inviter, organization }) =>
        inviter === null
          ? `Tienes una invitación para unirte a ${organization}.`
          : `${inviter} te invita a unirte a ${organization}.`,
      action: 'Ver la invitación',
      after: ({ expiry }) => `${expiry} Si no sabes quién te invita, ignora este correo.`,
    },

    'browser-code': {
      subject: 'Tu código para iniciar sesión',
      before:
        'Alguien escribió la contraseña de tu cuenta en un navegador que es nuevo para la cuenta. Si fuiste tú, escribe allí este código:',
      help: 'Si no fuiste tú, alguien conoce tu contraseña. Sin el código, no puede iniciar sesión. Elige una nueva contraseña aquí:',
      action: 'Elegir una nueva contraseña',
    },
    'verification-code': {
      subject: 'Tu código para confirmar tu correo electrónico',
      before:
        'Confirma que este correo electrónico es tuyo. Escribe este código donde iniciaste sesión o creaste tu cuenta:',
      help: 'Si no fuiste tú, puedes ignorar este correo. No compartas el código.',
    },
    'reset-code': {
      subject: 'Tu código para una nueva contraseña',
      before:
        'Alguien solicitó una nueva contraseña para tu cuenta. Si fuiste tú, escribe este código en el navegador donde lo pediste:',
      help: 'Si no fuiste tú, ignora este correo: tu contraseña no ha cambiado. No compartas el código.',
    },
    'sign-in-code': {
      subject: 'Tu código para iniciar sesión',
      before: 'Escribe este código en el navegador donde lo pediste:',
      beforeLink: 'Si lo prefieres, abre este enlace en el mismo navegador:',
      action: 'Iniciar sesión',
      help: 'Si no lo pediste, ignora este correo. Nadie puede iniciar sesión sin el código, así que no lo compartas.',
    },
    'sign-in-code/reauthentication': {
      subject: 'Tu código',
      before: 'Para confirmar que eres tú, escribe este código en el navegador donde lo pediste:',
      beforeLink: 'Si lo prefieres, abre este enlace en el mismo navegador:',
      action: 'Iniciar sesión',
      help: 'No compartas el código.',
      advice: {
        text: 'Si no lo pediste, es posible que otra persona haya iniciado sesión en tu cuenta. Revisa tus sesiones y cierra las que no reconozcas.',
        action: 'Revisar tus sesiones',
      },
    },
    'no-account': {
      subject: 'No hay ninguna cuenta con tu dirección',
      before: 'Alguien pidió iniciar sesión con este correo electrónico, pero ninguna cuenta lo tiene.',
      beforeLink: 'Si fuiste tú, usa la dirección de tu cuenta o crea una cuenta aquí:',
      action: 'Crear una cuenta',
      help: 'Si no lo pediste, ignora este correo.',
    },
    'no-account/deleted': {
      subject: 'Se eliminó tu cuenta',
      before: (values) => `Alguien pidió iniciar sesión con este correo electrónico. ${deletion(values)}`,
      help: 'Si no lo pediste, ignora este correo.',
    },
    'account-exists': {
      subject: 'Ya tienes una cuenta',
      before: 'Alguien intentó crear una cuenta con este correo electrónico, pero ya hay una cuenta con él.',
      beforeLink: 'Si fuiste tú, inicia sesión. Si no sabes la contraseña, elige una nueva aquí:',
      action: 'Elegir una nueva contraseña',
      help: 'Si no fuiste tú, ignora este correo: no ha cambiado nada.',
    },

    'password-set': {
      subject: 'Se estableció una contraseña para tu cuenta',
      lines: [
        'Tu cuenta no tenía contraseña y ahora tiene una. Cualquiera que conozca la contraseña puede iniciar sesión.',
      ],
    },
    'password-changed': {
      subject: 'Se cambió tu contraseña',
      lines: ['Se cambió la contraseña de tu cuenta.'],
    },
    'password-removed': {
      subject: 'Se quitó tu contraseña',
      lines: ['Tu cuenta ya no tiene contraseña. Tus otros métodos de inicio de sesión siguen funcionando.'],
    },
    'password-removed/first-proof': {
      subject: 'Se quitó tu contraseña',
      lines: [
        'Alguien inició sesión en tu cuenta por primera vez con un código enviado por correo a esta dirección. Tu cuenta tenía una contraseña que otra persona podría haber elegido antes, así que se quitó.',
        'Si quieres iniciar sesión con una contraseña, elige una nueva.',
      ],
    },
    'new-password-required': {
      subject: 'Elige una nueva contraseña',
      lines: ['Tu cuenta necesita una nueva contraseña, y se cerraron todas las sesiones.'],
      advice: {
        text: 'Inicia sesión con tu contraseña actual por última vez. Luego elige una nueva, en la página o con un enlace que te enviaremos por correo.',
        action: 'Iniciar sesión',
      },
    },
    'email-change-requested': {
      subject: 'Tu correo electrónico está a punto de cambiar',
      lines: [
        'Alguien con una sesión abierta en tu cuenta pidió cambiar el correo electrónico de la cuenta. Se envió un enlace de confirmación a la nueva dirección.',
      ],
      advice: {
        text: 'Si fuiste tú, no tienes que hacer nada. Si has cambiado de opinión, cancela el cambio donde lo pediste. Si no fuiste tú, establece o cambia tu contraseña ahora, para que el enlace de confirmación deje de funcionar.',
        action: 'Cambiar tu contraseña',
      },
    },
    'email-changed': {
      subject: 'Se cambió tu correo electrónico',
      lines: ['Tu cuenta tiene un nuevo correo electrónico. Esta dirección ya no pertenece a tu cuenta.'],
    },
    'email-change-conflict': {
      subject: 'Ya tienes una cuenta con este correo electrónico',
      lines: [
        'Alguien pidió que este fuera el correo electrónico de otra cuenta. No ha cambiado nada, porque tu cuenta tiene este correo electrónico.',
      ],
      advice: {
        text: 'Si fuiste tú, primero inicia sesión en la cuenta que tiene este correo electrónico y cámbialo allí o elimina esa cuenta. Si no fuiste tú, ignora este correo.',
        action: 'Iniciar sesión',
      },
    },
    'username-changed': {
      subject: 'Se cambió tu nombre de usuario',
      lines: ['Tu cuenta tiene un nuevo nombre de usuario. Ya no puedes iniciar sesión con el anterior.'],
    },
    'device-forgotten': {
      subject: 'Tu cuenta olvidó un navegador',
      lines: [
        'Se quitó un navegador de la lista de navegadores que conoce tu cuenta. El próximo inicio de sesión allí contará como un inicio de sesión en un nuevo navegador.',
      ],
      about: 'Navegador',
    },
    'new-device': {
      subject: 'Se inició sesión en un nuevo navegador',
      lines: ['Alguien inició sesión en tu cuenta en un navegador que es nuevo para la cuenta.'],
      undo: undoAllLater,
    },
    'data-exported': {
      subject: 'Se descargaron los datos de tu cuenta',
      lines: [
        'Alguien inició sesión en tu cuenta y descargó un archivo con los datos que se guardan sobre ti.',
      ],
      undo: undoAllLater,
    },
    'second-factor-enabled': {
      subject: 'Se activó la autenticación de dos factores',
      lines: [
        'A partir de ahora, para iniciar sesión en tu cuenta también se necesita un código de tu app de autenticación. Se cerraron todas las demás sesiones.',
      ],
    },
    'second-factor-enabled/passkeys': {
      subject: 'Se activó la autenticación de dos factores',
      lines: [
        'A partir de ahora, para iniciar sesión en tu cuenta también se necesita una de tus llaves de acceso. Se cerraron todas las demás sesiones.',
      ],
    },
    'second-factor-enabled/passkey-added': {
      subject: 'Se activó la autenticación de dos factores',
      lines: [
        'Se añadió una llave de acceso a tu cuenta. A partir de ahora, para iniciar sesión en tu cuenta se necesita una de tus llaves de acceso. Se cerraron todas las demás sesiones.',
      ],
      about: 'Llave de acceso',
    },
    'second-factor-disabled': {
      subject: 'Se desactivó la autenticación de dos factores',
      lines: [
        'Para iniciar sesión en tu cuenta ya no se necesita la autenticación de dos factores. También se eliminaron tus códigos de recuperación.',
      ],
    },
    'second-factor-disabled/everything': {
      subject: 'Se desactivó la autenticación de dos factores',
      lines: [
        'Tu cuenta ya no tiene la autenticación de dos factores. Se eliminaron sus llaves de acceso y sus códigos de recuperación. Cuando inicies sesión, se te pedirá que la configures de nuevo.',
      ],
    },
    'second-factor-disabled/passkeys': {
      subject: 'Se desactivó la autenticación de dos factores',
      lines: [
        'Para iniciar sesión en tu cuenta ya no se necesita una de tus llaves de acceso como segundo paso. También se eliminaron tus códigos de recuperación.',
      ],
    },
    'second-factor-disabled/codes-stay': {
      subject: 'Tus llaves de acceso ya no son el segundo paso',
      lines: [
        'Para iniciar sesión en tu cuenta ya no se necesita una de tus llaves de acceso. Se sigue necesitando un código de tu app de autenticación.',
      ],
    },
    'second-factor-disabled/passkeys-stay': {
      subject: 'Se quitó tu app de autenticación',
      lines: [
        'Para iniciar sesión en tu cuenta ya no se necesita un código de tu app de autenticación. Se sigue necesitando una de tus llaves de acceso.',
      ],
    },
    'recovery-code-used': {
      subject: 'Se usó un código de recuperación',
      lines: [
        'Alguien usó uno de los códigos de recuperación de tu cuenta en lugar de un código de tu app de autenticación o una llave de acceso. Este código de recuperación no se puede volver a usar.',
      ],
    },
    'recovery-codes-renewed': {
      subject: 'Tienes nuevos códigos de recuperación',
      lines: ['Tu cuenta tiene nuevos códigos de recuperación. Los códigos anteriores ya no funcionan.'],
    },
    'second-factor-attempts': {
      subject: 'Alguien podría conocer tu contraseña',
      lines: [
        'Se escribieron diez códigos incorrectos seguidos para tu cuenta, después de la contraseña correcta o de otro primer paso.',
      ],
      advice: {
        text: 'Si no fuiste tú, cambia tu contraseña ahora. La autenticación de dos factores ha protegido tu cuenta.',
        action: 'Cambiar tu contraseña',
      },
    },
    'passkey-added': {
      subject: 'Se añadió una llave de acceso a tu cuenta',
      lines: [
        'Se añadió una llave de acceso a tu cuenta. Cualquiera que la tenga puede iniciar sesión en tu cuenta.',
      ],
      about: 'Llave de acceso',
    },
    'passkey-removed': {
      subject: 'Se quitó una llave de acceso de tu cuenta',
      lines: ['Se quitó una llave de acceso de tu cuenta. Ya no se puede usar para iniciar sesión.'],
      about: 'Llave de acceso',
    },
    'passkey-removed/last': {
      subject: 'Se quitó una llave de acceso de tu cuenta',
      lines: [
        'Se quitó una llave de acceso de tu cuenta. Ya no se puede usar para iniciar sesión.',
        'Era tu última llave de acceso, así que ya no se te pedirá ninguna al iniciar sesión con tu contraseña. Si no tienes una app de autenticación, también se eliminaron tus códigos de recuperación.',
      ],
      about: 'Llave de acceso',
    },
    'provider-linked': {
      subject: 'Se añadió un método de inicio de sesión a tu cuenta',
      lines: [
        'Se vinculó a tu cuenta una cuenta de otro servicio. Cualquiera que tenga esa cuenta ahora puede iniciar sesión aquí.',
      ],
      about: 'Servicio',
    },
    'provider-unlinked': {
      subject: 'Se quitó un método de inicio de sesión de tu cuenta',
      lines: ['Tu cuenta ya no está vinculada a una cuenta de otro servicio.'],
      about: 'Servicio',
    },
    'api-key-created': {
      subject: 'Se creó una clave de API para tu cuenta',
      lines: [
        'Se creó una clave de API. Los programas que la tengan pueden actuar en tu nombre sin iniciar sesión.',
      ],
      about: 'Clave de API',
    },
    'account-deleted': {
      subject: 'Se eliminó tu cuenta',
      lines: ['Se eliminó tu cuenta, con todo lo que le pertenecía.'],
    },
    'account-deleted/pending': {
      subject: 'Se eliminó tu cuenta',
      lines: ({ days, until }) => [
        `Se eliminó tu cuenta. Nadie puede iniciar sesión en ella. Dentro de ${days} ${plural(days, { one: 'día', many: 'de días', other: 'días' })}, el ${date(until)}, se eliminará de forma permanente, con todo lo que le pertenece.`,
      ],
      undo: ({ within }) =>
        `Si no fuiste tú o si has cambiado de opinión, restaura la cuenta aquí ${within}:`,
      action: 'Restaurar la cuenta',
    },
    'deleted-account': {
      subject: 'Se eliminó tu cuenta',
      lines: (values) => [
        'Alguien pidió una nueva contraseña con este correo electrónico o quiso crear una cuenta con él.',
        deletion(values),
        'No se puede elegir una nueva contraseña para esta cuenta. Si no fuiste tú, ignora este correo: no ha cambiado nada.',
      ],
    },
    'account-recovered': {
      subject: 'Se deshizo un cambio de tu cuenta',
      lines: [
        'Alguien usó el enlace de un correo anterior para deshacer un cambio de tu cuenta y todos los cambios posteriores. Se cerraron todas las sesiones.',
      ],
    },
    'account-recovered/deletion': {
      subject: 'Se restauró tu cuenta',
      lines: [
        'Alguien usó el enlace de un correo anterior para restaurar tu cuenta, que se había eliminado.',
      ],
    },
    'administrator-acted': {
      subject: 'Un administrador abrió tu cuenta',
      lines: [
        'Alguien que gestiona esta app abrió tu cuenta, para verla como la ves tú. De esta forma no se pueden ver ni cambiar tu contraseña ni tus otros métodos de inicio de sesión.',
      ],
    },
    'administrator-added': {
      subject: 'Tu cuenta ahora es de administrador',
      lines: [
        'Tu cuenta recibió un rol que la convierte en cuenta de administrador. Si no lo esperabas, avisa a quienes gestionan esta app.',
      ],
    },
    'administrator-added/others': {
      subject: 'Un usuario ahora es administrador',
      lines: [
        'Un usuario recibió un rol que lo convierte en administrador. Si no lo esperabas, quita el rol al usuario y averigua quién se lo dio.',
      ],
      about: 'ID del usuario',
    },
    'organization-owner-added': {
      subject: 'Una organización tiene un nuevo propietario',
      lines: [
        'Un miembro pasó a ser propietario de una organización en la que tienes el rol de propietario. Los propietarios pueden hacer cualquier cosa en ella, incluso eliminarla.',
        'Si no lo esperabas, pregunta a los demás propietarios o cambia el rol del nuevo propietario.',
      ],
      about: 'Organización',
    },
    'organization-owner-added/new-owner': {
      subject: 'Ahora tienes el rol de propietario de una organización',
      lines: [
        'Recibiste el rol de propietario de una organización. Los propietarios pueden hacer cualquier cosa en ella, incluso eliminarla.',
        'Si no lo esperabas, pregunta a los demás propietarios.',
      ],
      about: 'Organización',
    },
  },
};
