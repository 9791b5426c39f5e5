import { type Html, html } from '../../html.js';
import type { PageWords } from '../../words/pages/index.js';
import { pluralsIn } from '../../words/plural.js';

const plural = pluralsIn('es');

function countDays(count: number): string {
  return `${count} ${plural(count, { one: 'día', many: 'de días', other: 'días' })}`;
}

function countPasskeys(count: number): string {
  return `${count} ${plural(count, { one: 'llave de acceso', many: 'de llaves de acceso', other: 'llaves de acceso' })}`;
}

function countBrowsers(count: number): string {
  return `${count} ${plural(count, { one: 'navegador', many: 'de navegadores', other: 'navegadores' })}`;
}

/** The sentence about a password that the user cannot sign in with yet. */
function unusable(hasPassword: boolean, missing: string): string {
  return hasPassword
    ? `Aún no puedes iniciar sesión con tu contraseña. Primero añade ${missing} en tu perfil.`
    : `Tu cuenta no tiene contraseña. Para establecer una, primero añade ${missing} en tu perfil.`;
}

/** The error of a request that a page does not send, unless someone has changed it. */
const unexpected = 'Esto no funcionó. Recarga la página e inténtalo de nuevo.';

/** What every page says of an emailed code that is used up. */
const codeOver =
  'Este código ya no funciona: ha caducado, ya se usó o se escribió mal demasiadas veces. Pide otro por correo.';

/** What it says of the code of an authenticator app. It does not say which it is, because that is a hint for attackers. */
const wrongTotp = 'Este código es incorrecto o ya se usó. Revísalo o espera al siguiente código.';

/** What it says besides, where a sign-in before the email is confirmed is rejected in the same way. */
const unconfirmed =
  ', o el correo electrónico aún no está confirmado. Si acabas de crear la cuenta, abre el enlace que te hemos enviado por correo.';

/** What is said of an empty password where only that of one account proves who it is. */
const ownPassword = 'Escribe la contraseña de esta cuenta.';

const wrongSlug =
  'Escribe de 2 a 63 minúsculas, dígitos y guiones sueltos, con una letra o un dígito al principio y al final.';

const unknownRole =
  'Elige un rol de esta lista. Es posible que haya cambiado, así que vuelve a abrir esta página.';

/** Whether words can follow a verb, such as "mi cuenta". A bare name cannot: people would need the preposition "a". */
const continuesVerb = /^(?:(?:al|como|de|el|la|los|las|mi|un|una) |\()/;

/** The words of the pages in Spanish. */
export const pages: PageWords = {
  titleOf: (title: string, appName: string) => `${title} – ${appName}`,
  skip: 'Ir al contenido',
  navigation: 'Cuenta',
  backTo: (appName: string) => `Volver a ${appName}`,
  signedInAs: 'Sesión iniciada como',
  terms: 'Términos',
  privacy: 'Privacidad',
  support: 'Soporte',
  optional: 'opcional',
  comma: ', ',
  labeled: (label: string, value: Html | string) => html`${label}: ${value}`,
  sentenceOf: (predicate: string) => `${predicate.charAt(0).toUpperCase()}${predicate.slice(1)}.`,
  actionOf: (action: string, about: string) =>
    continuesVerb.test(about) ? `${action} ${about}` : `${action}: ${about}`,
  answerOf: (answer, about) => `${answer}: ${about}`,
  yes: 'Sí',
  no: 'No',
  notSet: 'Sin indicar',
  choose: 'Elige…',
  /** The hints about the range of a number. */
  range: {
    between: (minimum: number, maximum: number) => `De ${minimum} a ${maximum}.`,
    from: (minimum: number) => `Como mínimo, ${minimum}.`,
    to: (maximum: number) => `Como máximo, ${maximum}.`,
  },
  deviceOn: (browser: string, system: string) => `${browser} en ${system}`,
  /** A browser that is unknown. */
  browserOn: (system: string) => `Un navegador en ${system}`,
  inUtc: (label: string) => `${label} (UTC)`,
  lastUsed: 'último uso',
  continue: 'Continuar',
  sendAgain: 'Volver a enviar el correo',
  sentAgain: (email: Html, isCertain: boolean) =>
    html`${isCertain ? html`Hay otro correo en camino a ${email}` : html`Si hay una cuenta con ${email}, hay otro correo en camino`}. Si no llega ninguno, usa el más reciente que tengas.`,
  /** What stands above the button that has to be pressed again, and on top of its page. */
  pressAgain: 'Aún no se ha hecho nada. Vuelve a pulsar el botón.',
  confirmed: (button: Html) => html`Has confirmado que eres tú. Continúa con «${button}».`,
  or: 'o',
  close: 'Cerrar',
  cancel: 'Cancelar',
  /** What the button that closes a part says after "Cerrar", for screen readers. */
  ofClose: (action: string) => ` «${action}»`,

  fields: {
    email: 'Correo electrónico',
    username: 'Nombre de usuario',
    either: 'Correo electrónico o nombre de usuario',
    password: 'Contraseña',
    currentPassword: 'Contraseña actual',
    newPassword: 'Nueva contraseña',
    newEmail: 'Nuevo correo electrónico',
    remember: 'Mantener la sesión abierta en este dispositivo',
    code: 'Código',
    recoveryCode: 'Código de recuperación',
    name: 'Nombre',
    language: 'Idioma',
    /** The choice of the language that the browser asks for. */
    anyLanguage: 'El idioma del navegador',
    languageHint: 'El idioma de estas páginas y de nuestros correos.',
  },
  confirmation: {
    label: (text: string) => `Para confirmar, escribe ${text}`,
    /** What users without an email and a username type. */
    word: 'eliminar',
  },
  /** The words for browsers that cannot be checked, because they run no scripts. */
  human: {
    noScript: 'No se puede comprobar este navegador porque no ejecuta scripts.',
    otherWays: (ways: string) => `Aun así, puedes iniciar sesión con ${ways}.`,
    turnOn: 'Activa JavaScript y luego recarga esta página.',
    password: 'tu contraseña',
    email: 'un código que te enviamos por correo',
    list: (ways: readonly string[]) => new Intl.ListFormat('es', { type: 'disjunction' }).format(ways),
  },
  copy: 'Copiar',
  copied: 'Copiado',
  passwordHint: (length: number) =>
    `Al menos ${length} caracteres. Unas pocas palabras al azar son una buena opción.`,

  usernameHint: 'De 3 a 30 caracteres: letras de la a a la z, dígitos, guiones bajos, puntos y guiones.',
  /** The hint of a password that has to be typed again, because something else in its form was wrong. */
  passwordAgain: 'Vuelve a escribir la contraseña.',

  /** The words for the scripts, which read them from the head of the document. */
  scripts: {
    failed: 'No se pudo enviar el formulario. Revisa la conexión e inténtalo de nuevo.',
    broken: 'Algo salió mal. Inténtalo de nuevo en un momento.',
    unsaved: 'Aún no se guardó.',
    show: 'Mostrar',
    hide: 'Ocultar',
    showOf: 'Mostrar: {field}',
    hideOf: 'Ocultar: {field}',
    passkeys: {
      failed: 'No se pudo usar la llave de acceso. Inténtalo de nuevo.',
      offline: 'Esto no funcionó. Revisa la conexión e inténtalo de nuevo.',
      NotAllowedError:
        'No se usó ninguna llave de acceso. Se canceló la solicitud, tardó demasiado o este dispositivo no tiene ninguna llave de acceso para este sitio.',
      InvalidStateError: 'Este dispositivo ya tiene una llave de acceso para tu cuenta.',
      NotSupportedError:
        'Este dispositivo no puede usar llaves de acceso. Prueba con un teléfono o un gestor de contraseñas.',
      SecurityError: 'Las llaves de acceso no funcionan en esta dirección.',
      /** The words about signing in with a passkey that differ. The codes are those of the server's errors. */
      'sign-in': {
        invalid_passkey:
          'Esta llave de acceso ya no pertenece a ninguna cuenta de aquí o ha pasado demasiado tiempo. Inténtalo de nuevo o inicia sesión de otra forma.',
      },
      /** The words about adding a passkey that differ. */
      create: {
        NotAllowedError: 'No se añadió ninguna llave de acceso. Se canceló la solicitud o tardó demasiado.',
      },
    },
  },

  names: {
    account: 'Perfil',
    'account/security': 'Seguridad',
    'account/sessions': 'Sesiones',
    'account/api-keys': 'Claves de API',
    'account/organizations': 'Organizaciones',
    'administration/users': 'Usuarios',
  },

  signIn: {
    title: 'Iniciar sesión',
    titleOf: (appName: string) => `Iniciar sesión en ${appName}`,
    submit: 'Iniciar sesión',
    already: 'Ya has iniciado sesión',
    byEmail: 'Recibir un código por correo',
    byEmailHint: 'Te enviaremos por correo un código para iniciar sesión. No necesitas una contraseña.',
    byPasskey: 'Iniciar sesión con una llave de acceso',
    continueWith: (provider: string) => `Continuar con ${provider}`,
    forgotten: '¿Olvidaste tu contraseña?',
    restorable: (date: Html) =>
      html`Se eliminó tu cuenta. Hasta el ${date}, puedes restaurarla con el enlace de nuestro correo.`,
    noAccount: '¿Aún no tienes una cuenta?',
    signUp: 'Crear una cuenta',
  },
  signUp: {
    title: 'Crear una cuenta',
    submit: 'Crear una cuenta',
    byEmail: 'Prefiero un código por correo',
    byEmailHint: 'Con un código, no necesitas una contraseña.',
    byEmailAlone: 'Recibir un código por correo',
    either: (resets: boolean) =>
      `Escribe un correo electrónico, un nombre de usuario o ambos.${resets ? ' Sin un correo electrónico, no podrás restablecer la contraseña si la olvidas.' : ''}`,
    haveAccount: '¿Ya tienes una cuenta?',
    closed: 'No puedes crear una cuenta aquí. Pide una a quienes gestionan esta app.',
    closedAsk: 'No puedes crear una cuenta aquí. Para tener una, pídela:',
    checkMail: 'Revisa tu correo',
    checkMailText: (address: Html | string) =>
      html`Hemos enviado un correo a ${address}. Si aún no tiene una cuenta, abre el enlace del correo y luego inicia sesión. Si ya tiene una cuenta, el correo dice qué hacer. Revisa también la carpeta de spam.`,
    confirmText: (address: Html | string) =>
      html`Hemos enviado un enlace a ${address}. Ábrelo y luego inicia sesión. Revisa también la carpeta de spam.`,
  },
  signOut: {
    title: 'Cerrar sesión',
    question: (account: string | null) =>
      account === null ? '¿Quieres cerrar sesión?' : `Has iniciado sesión como ${account}.`,
    submit: 'Cerrar sesión',
    stay: 'Mantener la sesión abierta',
  },
  passkeyOffer: {
    title: 'La próxima vez, inicia sesión sin contraseña',
    text: 'Crea una llave de acceso. Después, para iniciar sesión solo necesitarás el bloqueo de pantalla de este dispositivo.',
    create: 'Crear una llave de acceso',
    later: 'Ahora no',
  },
  secondFactor: {
    title: 'Confirma que eres tú',
    account: (account: string) => `Estás iniciando sesión como ${account}.`,
    totp: 'Escribe el código que muestra tu app de autenticación.',
    emailCode: (email: Html, digits: number) =>
      html`Hemos enviado un código de ${digits} dígitos a ${email}, porque este navegador es nuevo para tu cuenta. Revisa también la carpeta de spam.`,
    verifyCode: (email: Html, digits: number) =>
      html`Hemos enviado un código de ${digits} dígitos a ${email}. Escríbelo para confirmar que el correo electrónico es tuyo. Revisa también la carpeta de spam.`,
    passkey: (wasPassword: boolean) =>
      wasPassword
        ? 'Tu contraseña es correcta. Ahora usa tu llave de acceso.'
        : 'Un paso más: usa tu llave de acceso.',
    recoveryHint:
      'Uno de los códigos que guardaste al activar la autenticación de dos factores. Cada código sirve una sola vez.',
    submit: 'Continuar',
    trust: (days: number) => `No volver a preguntar en este navegador durante ${countDays(days)}`,
    useRecovery: 'Usar un código de recuperación',
    submitRecovery: 'Usar el código de recuperación',
    usePasskey: 'Usar una llave de acceso',
    wrongAddress: {
      question: '¿El correo electrónico es incorrecto?',
      signUpAgain: 'Vuelve a crear la cuenta con el correcto',
      orSupport: (link: Html) => html` o contacta con soporte: ${link}`,
      support: (link: Html) => html`Contacta con soporte: ${link}`,
    },
    lost: (support: Html | null, appName: string) =>
      support === null
        ? `Si has perdido tu teléfono y tus códigos de recuperación, pide ayuda a quienes gestionan ${appName}.`
        : html`Si has perdido tu teléfono y tus códigos de recuperación, pide ayuda: ${support}`,
    expires: 'Tienes 10 minutos. Después, inicia sesión de nuevo.',
    expired:
      'No hay ningún inicio de sesión que confirmar. Es posible que haya caducado. Inicia sesión de nuevo.',
    cancel: 'Iniciar sesión con otra cuenta',
  },
  reauthenticate: {
    title: 'Confirma que eres tú',
    lead: 'Por tu seguridad, confirma que eres tú antes de continuar.',
    leadTo: (what: string) => `Para ${what}, confirma que eres tú.`,
    /** What the forms do that need a recent sign-in, by their pages and names. */
    actions: {
      'account/profile': 'guardar tu perfil',
      'account/username': 'cambiar tu nombre de usuario',
      'account/email': 'cambiar tu correo electrónico',
      'account/download': 'descargar tus datos',
      'account/delete': 'eliminar tu cuenta',
      'account/api-keys/create': 'crear una clave de API',
      'account/organizations/organization/set-role': 'cambiar el rol de este miembro',
      'account/organizations/organization/remove': 'quitar a este miembro',
      'account/organizations/organization/invite': 'invitar a alguien',
      'account/organizations/organization/delete': 'eliminar esta organización',
      'account/security/change-password': 'cambiar tu contraseña',
      'account/security/set-password': 'establecer una contraseña',
      'account/security/remove-password': 'quitar tu contraseña',
      'account/security/set-up-app': 'configurar una app de autenticación',
      'account/security/disable-app': 'quitar la app de autenticación',
      'account/security/renew-codes': 'obtener nuevos códigos de recuperación',
      'account/security/use-passkeys': 'cambiar tu segundo paso',
      'account/security/remove-passkey': 'quitar esta llave de acceso',
      'account/security/unlink': 'desvincular esta cuenta',
      'account/security/forget-browser': 'olvidar este navegador',
      'account/security/start-over': 'empezar de nuevo con otro correo electrónico',
      'account/security/second-factor/confirm-app': 'activar la autenticación de dos factores',
      'administration/users/create': 'crear un usuario',
      'administration/users/user/edit': 'editar este usuario',
      'administration/users/user/delete': 'eliminar a este usuario',
      'administration/users/user/roles': 'cambiar los roles de este usuario',
      'administration/users/user/suspend': 'suspender a este usuario',
      'administration/users/user/reinstate': 'levantar la suspensión',
    },
    emailCode: (email: Html) => html`Enviaremos un código a ${email}.`,
    send: 'Recibir un código por correo',
    sendAgain: 'Recibir otro código por correo',
    sent: (email: Html, digits: number, time: string) =>
      html`Hemos enviado un código de ${digits} dígitos a ${email}. Es válido durante ${time}. Revisa también la carpeta de spam.`,
    none: 'Esta página no puede confirmar que eres tú. Cierra sesión y vuelve a iniciarla.',
    submit: 'Confirmar',
    cancel: 'Cancelar',
  },
  forgotPassword: {
    title: 'Restablecer tu contraseña',
    lead: 'Escribe el correo electrónico de tu cuenta. Te enviaremos por correo un enlace para elegir una nueva contraseña.',
    submit: 'Recibir un enlace por correo',
    codeLead:
      'Escribe el correo electrónico de tu cuenta. Te enviaremos por correo un código para elegir una nueva contraseña.',
    codeSubmit: 'Recibir un código por correo',
    sent: 'Revisa tu correo',
    sentText: (address: Html | string) =>
      html`Si hay una cuenta con ${address}, hay un correo con un enlace en camino. El enlace caduca al cabo de una hora. Revisa también la carpeta de spam.`,
    anyAddress: 'esta dirección',
    again: 'Recibir otro enlace por correo',
    back: 'Volver al inicio de sesión',
  },
  resetPassword: {
    title: 'Elige una nueva contraseña',
    invitationTitle: 'Acepta tu invitación',
    lead: (account: Html) => html`Elige una contraseña para ${account}.`,
    ends: 'Con una nueva contraseña se cierran todas las sesiones de la cuenta.',
    submit: 'Guardar la contraseña',
    invitationSubmit: 'Crear la contraseña',
    invalid: 'Este enlace ya no es válido',
    invalidText: 'Ya se usó o ha caducado. Si ya has elegido una nueva contraseña, inicia sesión con ella.',
    invitationInvalidText:
      'Ya se usó o ha caducado. Si ya has creado tu contraseña, inicia sesión con ella. Si no, pide otro enlace a quienes te invitaron.',
    again: 'Recibir un nuevo enlace por correo',
    codeLead:
      'Si hay una cuenta con tu correo electrónico, te hemos enviado un código por correo. Escríbelo aquí.',
    codeSentTo: (email: Html, digits: number, time: string) =>
      html`Si hay una cuenta con ${email}, hemos enviado allí un código de ${digits} dígitos. Es válido durante ${time}. Revisa también la carpeta de spam.`,
    codeAgain: 'Recibir otro código por correo',
    codeOther: 'Usar otro correo electrónico',
    codeFirst: 'Primero pide un código',
    codeFirstText:
      'Escribe el correo electrónico de tu cuenta y te enviaremos por correo un código para elegir una nueva contraseña.',
  },
  join: {
    title: (organization: string) => `Unirse a ${organization}`,
    lead: (organization: string) => `Tienes una invitación para unirte a ${organization}.`,
    leadBy: (inviter: Html, organization: string) => html`${inviter} te invita a unirte a ${organization}.`,
    email: 'Correo electrónico invitado',
    role: 'Tu rol',
    expires: 'Válida hasta',
    submit: (organization: string) => `Unirse a ${organization}`,
    task: 'Hay un paso más antes de que puedas unirte.',
    otherEmail: (email: Html, account: string | null) =>
      account === null
        ? html`La invitación es para ${email}, que no es el correo electrónico de tu cuenta. Cierra sesión y luego continúa con el correo electrónico invitado.`
        : html`La invitación es para ${email}, pero has iniciado sesión como ${account}. Cierra sesión y luego continúa con el correo electrónico invitado.`,
    signOut: 'Cerrar sesión y continuar',
    signIn: (email: Html) =>
      html`${email} tiene una cuenta. Inicia sesión en ella y volverás aquí para unirte.`,
    signInFirst: (email: Html) =>
      html`${email} aún no tiene una cuenta. Continúa para crear una y volverás aquí para unirte.`,
    createAccount: (email: Html) => html`${email} aún no tiene una cuenta. Crea una para unirte.`,
    submitSignUp: (organization: string) => `Crear la cuenta y unirse a ${organization}`,
    otherWay: 'Unirse sin contraseña',
    afterwards: (organization: string) => `Después podrás unirte a ${organization}.`,
    joined: (organization: string) => `Ahora eres miembro de ${organization}.`,
    already: (organization: string) => `Ya eres miembro de ${organization}`,
    open: (organization: string) => `Ir a ${organization}`,
    signUpFirst: (email: Html) =>
      html`${email} aún no tiene una cuenta. Crea una con este correo electrónico y luego vuelve a abrir el enlace de la invitación.`,
    closed: (email: Html) =>
      html`${email} aún no tiene una cuenta y no puedes crearla aquí. Pide una cuenta a quienes gestionan esta app y luego vuelve a abrir el enlace del correo.`,
    closedAsk: (email: Html) =>
      html`${email} aún no tiene una cuenta y no puedes crearla aquí. Para tener una, pide ayuda:`,
    nothing: 'Si no quieres unirte, no tienes que hacer nada.',
    invalid: 'Esta invitación ya no es válida',
    invalidText:
      'Ya se usó, se reemplazó por un correo más reciente, se revocó o ha caducado. Abre el enlace del correo más reciente o pide otra a la persona que te invitó.',
    withoutLink: 'Abre el enlace del correo',
    withoutLinkText: 'Para unirte a una organización, abre el enlace del correo que te invita.',
    organizations: 'Tus organizaciones',
  },
  verifyEmail: {
    title: 'Confirma tu correo electrónico',
    lead: (account: string) => `Confirma que ${account} es tu correo electrónico.`,
    password: 'Escribe la contraseña de esta cuenta para demostrar que es tuya.',
    submit: 'Confirmar',
    invalid: 'Este enlace ya no es válido',
    invalidText:
      'Ya se usó o ha caducado. Si ya has confirmado tu correo electrónico, simplemente inicia sesión.',
    invalidHere: 'Ya se usó o ha caducado. Puedes recibir uno nuevo.',
    waiting: 'Primero confirma tu correo electrónico',
    waitingText: (address: Html | string) =>
      html`Abre el enlace que hemos enviado a ${address} y luego inicia sesión. Revisa también la carpeta de spam.`,
    waitingAgain: 'Para recibir un nuevo enlace, vuelve a iniciar sesión.',
    perhapsSent:
      'Si te hemos enviado un enlace por correo, ábrelo y luego inicia sesión. Para recibir un nuevo enlace, inicia sesión.',
    waitingHere: (address: Html | string) =>
      html`Abre el enlace que hemos enviado a ${address}. Revisa también la carpeta de spam.`,
    anyAddress: 'tu correo electrónico',
    done: 'Tu correo electrónico está confirmado',
    doneFor: (email: string) => `${email} está confirmado.`,
    doneText: (account: string) => `Has iniciado sesión como ${account}.`,
    send: 'Recibir un nuevo enlace por correo',
    codeFirst: (email: Html | string) =>
      html`Enviaremos un código a ${email}. Escríbelo aquí para confirmar que el correo electrónico es tuyo.`,
    codeSentTo: (email: Html | string, digits: number, time: string) =>
      html`Hemos enviado un código de ${digits} dígitos a ${email}. Es válido durante ${time}. Revisa también la carpeta de spam.`,
    codeSignUp: (email: Html | string, digits: number, time: string) =>
      html`Si aún no hay una cuenta con ${email}, hemos enviado allí un código de ${digits} dígitos. Es válido durante ${time}. Revisa también la carpeta de spam.`,
    codeSend: 'Recibir un código por correo',
    codeSendNew: 'Recibir un nuevo código por correo',
    codeSignIn: 'Inicia sesión y te enviaremos por correo un código para confirmar tu correo electrónico.',
    later: 'Ahora no',
  },
  changeEmail: {
    title: 'Confirma tu nuevo correo electrónico',
    lead: (email: string) => `Usa ${email} como correo electrónico de tu cuenta.`,
    account: (account: string) => `Tu correo electrónico actual es ${account}.`,
    elsewhere: 'Abre este enlace donde tengas la sesión abierta',
    elsewhereText:
      'Copia el enlace de esta página y ábrelo en el navegador donde tengas abierta la sesión de la cuenta. Allí no hace falta contraseña.',
    password: 'O escribe aquí la contraseña de la cuenta, si tiene una.',
    submit: 'Usar este correo electrónico',
    invalid: 'Este enlace ya no es válido',
    invalidText:
      'Ya se usó, ha caducado, se canceló o tu cuenta ha cambiado desde entonces. Quizá un correo más reciente lo reemplazó: en ese caso, abre el enlace del más reciente. Si ya has confirmado tu nuevo correo electrónico, simplemente inicia sesión con él.',
    invalidHere: (email: string) =>
      `Ya se usó, ha caducado, se canceló o tu cuenta ha cambiado desde entonces. Quizá un correo más reciente lo reemplazó: en ese caso, abre el enlace del más reciente. El correo electrónico de tu cuenta es ${email}.`,
    signsOut: 'Se cerrará tu sesión en todos los dispositivos.',
    signsOutOthers: 'Se cerrará tu sesión en todos los demás dispositivos.',
    done: 'Se cambió tu correo electrónico',
    doneText: (email: string) => `Tu correo electrónico ahora es ${email}.`,
    doneElsewhere: 'Se cerraron tus sesiones. Inicia sesión con el nuevo correo electrónico.',
  },
  undoChange: {
    title: 'Deshacer un cambio',
    what: (change: string) => `${change}.`,
    emailChanged: (from: string, to: string) => `Se cambió el correo electrónico de ${from} a ${to}.`,
    account: 'Cuenta',
    when: 'Cuándo',
    device: 'Dispositivo',
    unknownDevice: 'Un dispositivo desconocido',
    lead: 'Si no fuiste tú, deshaz el cambio. Así también se deshacen todos los cambios posteriores de la cuenta y se cierran todas las sesiones.',
    removes: 'Se quita tu contraseña y eliges una nueva por correo.',
    done: 'Se deshizo el cambio',
    choose: (email: Html) =>
      html`Elige una nueva contraseña con el enlace que hemos enviado a ${email}. Revisa también la carpeta de spam.`,
    ended: 'Se cerraron todas las sesiones.',
    password: 'Tu contraseña de antes del cambio',
    passwordHint: '',
    code: 'Código de tu app de autenticación o un código de recuperación',
    codeHint: 'Usa la app o los códigos de recuperación que tenías antes del cambio.',
    submit: 'Deshacer el cambio',
    withPasskey: 'Deshacerlo con tu llave de acceso',
    nothing: 'Si fuiste tú, no tienes que hacer nada.',
    otherBrowser: 'Abre este enlace en un navegador que tu cuenta conozca',
    otherBrowserText:
      'El enlace solo funciona en un navegador que ya habías usado durante un tiempo. Copia el enlace de esta página y ábrelo allí.',
    tooNew: (since: Html) =>
      html`Este navegador era demasiado nuevo cuando se hizo el cambio: tu cuenta solo lo conoce desde el ${since}.`,
    worksIn: 'El enlace funciona en:',
    knownSince: (browser: string, since: Html) => html`${browser}, conocido desde el ${since}`,
    copyAddress: 'Copiar el enlace',
    help: (support: Html | string | null) =>
      support === null
        ? 'Si no tienes un navegador así, pide ayuda a quienes gestionan esta app.'
        : html`Si no tienes un navegador así, pide ayuda: ${support}`,
    noBrowser: 'Este enlace no funciona en ningún navegador',
    noBrowserText:
      'Cuando se hizo el cambio, la cuenta no llevaba suficiente tiempo usándose en ningún navegador. Por eso, solo soporte puede deshacerlo.',
    helpWithout: (support: Html | string | null) =>
      support === null ? 'Pide ayuda a quienes gestionan esta app.' : html`Pide ayuda: ${support}`,
    changePassword: 'Cambiar tu contraseña',
    invalid: 'Este enlace ya no es válido',
    invalidText: 'Ya se usó, ha caducado o el cambio ya se deshizo.',
    invalidHelp: (support: Html | string | null) =>
      support === null
        ? 'Si no hiciste el cambio, pide ayuda a quienes gestionan esta app.'
        : html`Si no hiciste el cambio, pide ayuda: ${support}`,
    /** The words about a deleted account that differ. */
    deletion: {
      title: 'Restaurar tu cuenta',
      done: 'Se restauró tu cuenta',
      lead: 'Puedes restaurar la cuenta tal como era antes de que se eliminara.',
      password: 'Tu contraseña',
      passwordHint: 'Demuestra que la cuenta es tuya.',
      codeHint: '',
      submit: 'Restaurar la cuenta',
      withPasskey: 'Restaurarla con tu llave de acceso',
      nothing: 'Si la cuenta debe seguir eliminada, no tienes que hacer nada.',
    },
  },
  emailedSignIn: {
    title: 'Escribe tu código',
    lead: 'Te hemos enviado un código por correo. Escríbelo aquí, en el navegador donde lo pediste.',
    notAsked: 'Para iniciar sesión con un código, pide uno en este navegador. Luego escríbelo aquí.',
    sentTo: (email: Html, digits: number, time: string, isCertain: boolean) =>
      isCertain
        ? html`Hemos enviado un código de ${digits} dígitos a ${email}. Es válido durante ${time}. Revisa también la carpeta de spam.`
        : html`Si hay una cuenta con ${email}, hay un correo con un código de ${digits} dígitos en camino. Es válido durante ${time}. Revisa también la carpeta de spam.`,
    submit: 'Iniciar sesión',
    linkTitle: 'Iniciar sesión',
    linkLead: (email: string) => `Continúa para iniciar sesión como ${email}.`,
    linkSubmit: 'Iniciar sesión',
    usedTitle: 'Este enlace ya no es válido',
    used: 'Ya se usó o ha caducado.',
    usedHere: (account: string) => `Ya se usó o ha caducado. Has iniciado sesión como ${account}.`,
    elsewhereTitle: 'Pediste este correo en otro navegador',
    elsewhere:
      'Vuelve a ese navegador y escribe allí el código del correo. Algunas apps abren los enlaces en un navegador propio.',
    here: (email: Html) => html`O inicia sesión aquí: enviaremos un nuevo código a ${email}.`,
    hereSubmit: 'Prefiero iniciar sesión aquí',
    notYou: 'Si no pediste este correo, puedes ignorarlo.',
    createTitle: 'Crea tu cuenta',
    fields: (email: Html | string) =>
      html`${email} aún no tiene una cuenta. Completa estos datos para crear una.`,
    thisEmail: 'Este correo electrónico',
    lostFields: (labels: readonly string[]) =>
      `No se conservó lo que escribiste en: ${labels.join(', ')}. Si creas una cuenta, escríbelo más tarde en tu perfil.`,
    again: 'Recibir otro código por correo',
    other: 'Usar otro correo electrónico',
  },

  security: {
    title: 'Seguridad',
    change: 'Cambiar',
    show: 'Mostrar',
    manage: 'Administrar',
    confirmEmail: {
      title: 'Confirma tu correo electrónico',
      text: (email: string) =>
        `Confirma que ${email} es tu correo electrónico. Después, podrás activar la autenticación de dos factores y añadir llaves de acceso.`,
      first: 'Primero confirma tu correo electrónico.',
      wrong: '¿El correo electrónico es incorrecto?',
      change: 'Cámbialo en tu perfil.',
      wrongAddress:
        '¿El correo electrónico es incorrecto? Cierra sesión y luego vuelve a crear la cuenta con el correcto.',
      startOver: 'Cerrar sesión y volver a crear la cuenta',
    },
    methods: {
      title: 'Métodos de inicio de sesión',
      passkeys: (count: number) => countPasskeys(count),
      email: 'código por correo',
      none: 'Aún no tienes métodos de inicio de sesión.',
    },
    taskTitle: 'Un paso más',
    taskText: 'Completa este paso antes de continuar.',
    password: {
      change: 'Cambiar la contraseña',
      set: 'Establecer una contraseña',
      isSet: 'Tienes una contraseña.',
      none: 'Tu cuenta no tiene contraseña.',
      /** What a password is good for, by what the account has in addition to it. */
      use: {
        email: 'Si estableces una, también podrás iniciar sesión con tu correo electrónico y esa contraseña.',
        username:
          'Si estableces una, también podrás iniciar sesión con tu nombre de usuario y esa contraseña.',
        either:
          'Si estableces una, también podrás iniciar sesión con tu correo electrónico o nombre de usuario y esa contraseña.',
      },
      /** What an account needs before a password is of use. */
      missing: {
        email: (hasPassword: boolean) => unusable(hasPassword, 'un correo electrónico'),
        username: (hasPassword: boolean) => unusable(hasPassword, 'un nombre de usuario'),
        either: (hasPassword: boolean) =>
          unusable(hasPassword, 'un correo electrónico o un nombre de usuario'),
      },
      add: {
        email: 'Añadir un correo electrónico',
        username: 'Añadir un nombre de usuario',
        either: 'Añadir un correo electrónico o un nombre de usuario',
      },
      remove: 'Quitar la contraseña',
      removeText: 'Después, iniciarás sesión con tus otros métodos de inicio de sesión.',
      confirmRemove: 'Sí, quitar la contraseña',
      ends: 'Cuando cambias la contraseña, se cierran tus otras sesiones.',
      demanded: 'Elige una nueva contraseña para continuar. Escribe la actual por última vez.',
    },
    secondFactor: {
      title: 'Autenticación de dos factores',
      off: 'Si la activas, una contraseña robada no basta para iniciar sesión.',
      demanded: 'Configura una app de autenticación o añade una llave de acceso. Basta con una de las dos.',
      on: (totp: boolean, passkeys: boolean) =>
        totp && passkeys
          ? 'Para iniciar sesión, necesitas un código de tu app de autenticación o una llave de acceso.'
          : totp
            ? 'Para iniciar sesión, necesitas un código de tu app de autenticación.'
            : 'Para iniciar sesión, necesitas una llave de acceso.',
      codesLeft: (count: number) =>
        count === 0
          ? 'No te quedan códigos de recuperación. Crea otros.'
          : `Te ${plural(count, { one: 'queda', many: 'quedan', other: 'quedan' })} ${count} ${plural(count, { one: 'código', many: 'de códigos', other: 'códigos' })} de recuperación.`,
      begin: 'Configurar una app de autenticación',
      replace: 'Configurar otra app de autenticación',
      again: 'Volver a empezar con un nuevo código QR',
      setUp: 'Configura tu app de autenticación',
      scanTitle: 'Añade esta cuenta a la app',
      enterTitle: 'Escribe el código',
      codesNext: 'La página siguiente los mostrará cuando hayas activado la autenticación de dos factores.',
      cancel: 'Cancelar',
      scan: 'Escanea este código con tu app de autenticación, como Google Authenticator, Microsoft Authenticator o 1Password.',
      codeLabel: 'Código de la app',
      qr: 'Código QR para tu app de autenticación',
      open: 'Abrir la app de autenticación en este dispositivo',
      manual: 'O escribe esta clave en la app:',
      confirm: 'Activar',
      codeHint: 'Los 6 dígitos que muestra la app. Tienes 10 minutos.',
      replaced:
        'Esta configuración se volvió a empezar en otra pestaña. Escanea el nuevo código QR y escribe su código.',
      renew: 'Crear nuevos códigos de recuperación',
      renewText: 'Tus códigos de recuperación actuales dejarán de funcionar.',
      confirmRenew: 'Sí, crear nuevos',
      disable: 'Quitar la app de autenticación',
      disableText:
        'Después, ya no necesitarás sus códigos para iniciar sesión. Se cerrarán tus otras sesiones.',
      disableLastText:
        'Así se desactiva la autenticación de dos factores y se eliminan tus códigos de recuperación. Se cerrarán tus otras sesiones.',
      confirmDisable: 'Sí, quitar',
      passkeysOn: 'Usar mis llaves de acceso como segundo paso',
      passkeysOff: 'Dejar de usar llaves de acceso como segundo paso',
      trusted: (count: number) => `En ${countBrowsers(count)}, inicias sesión solo con la contraseña.`,
      askAgain: 'Volver a preguntar en todos los navegadores',
      codes: 'Guarda tus códigos de recuperación',
      codesText:
        'Si pierdes tu teléfono o tus llaves de acceso, inicia sesión con uno de estos códigos. Cada código sirve una sola vez.',
      codesOnce: 'Solo se muestran ahora, así que guárdalos en un lugar que no sea tu teléfono.',
      fileName: 'codigos-de-recuperacion.txt',
      fileHeading: (appName: string, account: string | null) =>
        `Códigos de recuperación para ${appName}${account === null ? '' : ` (${account})`}`,
      download: 'Descargar',
      print: 'Imprimir',
      saved: 'Ya los he guardado',
    },
    passkeys: {
      title: 'Llaves de acceso',
      text: 'Con una llave de acceso, inicias sesión con el bloqueo de pantalla de tu dispositivo en lugar de una contraseña.',
      count: (count: number) => `${countPasskeys(count)}.`,
      add: 'Añadir una llave de acceso',
      change: 'Editar',
      rename: 'Cambiar el nombre',
      remove: 'Quitar',
      removeText: 'Después, ya no podrás iniciar sesión con esta llave de acceso.',
      confirmRemove: 'Sí, quitar',
      synced: 'sincronizada',
      added: (time: Html) => html`Añadida el ${time}.`,
      used: (time: Html) => html`Usada por última vez el ${time}.`,
      neverUsed: 'Aún no se ha usado.',
      needsScript: 'Las llaves de acceso necesitan JavaScript y un navegador que las admita.',
    },
    linked: {
      title: 'Cuentas vinculadas',
      none: 'No hay ninguna cuenta vinculada.',
      since: (time: Html) => html`Vinculada el ${time}.`,
      unlink: 'Desvincular',
      unlinkText: (provider: string) => `Después, ya no podrás iniciar sesión con ${provider}.`,
      confirmUnlink: 'Sí, desvincular',
      link: (provider: string) => `Vincular ${provider}`,
      // `addFirst` follows, whose pronouns refer to this account at the provider.
      only: (provider: string) => `Solo puedes iniciar sesión aquí con tu cuenta de ${provider}.`,
      /** What a user can add, so that the account can be unlinked. Empty if this cannot be done on the page. */
      addFirst: (added: readonly Html[]) =>
        added.length === 0
          ? 'No puedes desvincularla.'
          : html`Antes de desvincularla, ${added.map((one, index) => html`${index > 0 && (index === added.length - 1 ? ' o ' : ', ')}${one}`)}.`,
      added: {
        passkey: 'añade una llave de acceso',
        password: 'establece una contraseña',
        email: 'añade un correo electrónico',
        username: 'añade un nombre de usuario',
        either: 'añade un correo electrónico o un nombre de usuario',
        account: 'vincula otra cuenta',
      },
    },
    changes: {
      title: 'Cambios recientes',
      text: 'Los cambios de los últimos 30 días.',
      mailed: 'Si no hiciste alguno de ellos, usa el enlace del correo sobre ese cambio.',
      count: (count: number) =>
        `${count} ${plural(count, { one: 'cambio', many: 'de cambios', other: 'cambios' })} en los últimos 30 días.`,
      none: 'No se cambió nada en los últimos 30 días.',
      undoable: 'se puede deshacer',
      bySupport: 'solo soporte puede deshacerlo',
    },
    browsers: {
      title: 'Navegadores que has usado',
      mailed: 'Si alguien inicia sesión con otro navegador, recibirás un correo.',
      count: (count: number) => (count === 0 ? 'Aún ninguno.' : `${countBrowsers(count)}.`),
      text: 'Tu cuenta recuerda estos navegadores, incluso después de cerrar sesión, hasta que cambies o quites tu contraseña, o actives la autenticación de dos factores en otro navegador. Olvida los navegadores que ya no uses. Para cerrar sesión en ellos, usa Sesiones.',
      current: 'este navegador',
      seen: (first: Html, last: Html) => html`Usado por primera vez el ${first} y por última vez el ${last}.`,
      trusted: (until: Html) => html`Allí basta la contraseña para iniciar sesión hasta el ${until}.`,
      forget: 'Olvidar',
      forgetText:
        'El próximo inicio de sesión allí contará como un inicio de sesión en un nuevo navegador. Si has iniciado sesión allí, la sesión sigue abierta.',
      confirmForget: 'Sí, olvidar',
    },
  },
  account: {
    title: 'Perfil',
    profile: 'Sobre ti',
    save: 'Guardar tus datos',
    username: 'Nombre de usuario',
    saveUsername: 'Guardar el nombre de usuario',
    email: 'Correo electrónico',
    noEmail: 'Esta cuenta no tiene correo electrónico.',
    verified: 'confirmado',
    unverified: 'sin confirmar',
    verify: (isByCode: boolean) => `Recibir un ${isByCode ? 'código' : 'enlace'} para confirmarlo`,
    pending: (email: Html) => html`Falta que abras el enlace enviado a ${email}.`,
    emailAgain: 'Volver a enviarlo por correo',
    cancelEmail: 'Cancelar este cambio',
    newEmailHint:
      'Enviaremos un enlace al nuevo correo electrónico. Tu correo electrónico cambia cuando abres ese enlace y pulsas el botón que aparece. Entonces se cierra tu sesión en todos los demás dispositivos.',
    changeEmail: 'Cambiar el correo electrónico',
    firstEmail: 'Añadir un correo electrónico',
    firstEmailHint:
      'Enviaremos un enlace a este correo electrónico. En cuanto abras el enlace, tu cuenta tendrá este correo electrónico.',
    data: 'Mis datos',
    dataText: 'Descarga un archivo con todo lo que se guarda sobre ti.',
    download: 'Descargar mis datos',
    delete: 'Eliminar mi cuenta',
    opensDeletion: 'Eliminar',
    ofDeletion: 'mi cuenta',
    deleteNow:
      'La cuenta se eliminará de inmediato, con todo lo que le pertenece. Esto no se puede deshacer.',
    deleteLater: (days: number) =>
      `Todas las sesiones se cerrarán de inmediato y la cuenta ya no se podrá usar. Después de ${countDays(days)}, se eliminará de forma permanente, con todo lo que le pertenece.`,
    restore: 'Hasta entonces, podrás restaurarla con un enlace que te enviaremos por correo.',
    restoreByApp: 'Hasta entonces, solo quienes gestionan esta app pueden restaurarla.',
    confirmDelete: 'Sí, eliminar',
  },
  proof: {
    lead: 'Por tu seguridad, esto solo es posible después de confirmar que eres tú.',
    first: 'Confirmar que eres tú',
  },
  sessions: {
    title: 'Sesiones',
    lead: 'Has iniciado sesión en estos dispositivos. Si no reconoces alguno, cierra esa sesión aquí.',
    browsers: (link: Html) => html`Para los navegadores en los que has cerrado sesión, consulta «${link}».`,
    current: 'este dispositivo',
    unknownDevice: 'Un dispositivo desconocido',
    acting: 'Alguien que gestiona esta app, para verla como la ves tú',
    ip: 'Dirección IP',
    active: 'Última actividad',
    created: 'Inicio de sesión',
    end: 'Cerrar sesión',
    // A name can be a sentence, such as that of `acting`, which no preposition fits.
    about: (device: string, created: Html) => html`(${device}, iniciada el ${created})`,
    endOthers: 'Cerrar sesión en todos los demás dispositivos',
    endAll: 'Sí, cerrar sesión en todos',
    wantsEndAll: 'Cerrar sesión en todos los dispositivos',
    endAllText: 'Se cerrará tu sesión en todos los dispositivos, incluido este.',
  },
  keys: {
    title: 'Claves de API',
    lead: 'Los programas usan una clave de API para actuar en tu nombre.',
    none: 'No tienes claves de API.',
    created: 'Creación',
    used: 'Último uso',
    neverUsed: 'Nunca',
    expires: 'Caduca',
    inDays: (days: number) => `En ${countDays(days)}`,
    neverExpires: 'Nunca',
    expired: 'caducada',
    scopes: 'Permisos',
    noScopes: 'todos tus permisos',
    revoke: 'Revocar',
    revokeText:
      'Los programas que usan esta clave dejarán de funcionar de inmediato. Una clave revocada no se puede restaurar.',
    confirmRevoke: 'Sí, revocar',
    about: (name: string, start: string) => `la clave ${name}, ${start}`,
    make: 'Crear una clave de API',
    nameHint: 'Para tu lista; por ejemplo, el nombre del programa.',
    allRights: 'Si no la limitas, esta clave puede hacer todo lo que tú puedes hacer en esta app.',
    someRights: 'Solo estos:',
    everything: 'Todo lo que tú puedes hacer en esta app',
    everythingText:
      'Cualquiera que tenga la clave podrá usar la app como si fuera tú. Elige esto solo para programas que lo necesiten.',
    scopesHint:
      'Los nombres de los permisos, separados por espacios o comas. La documentación de esta app los enumera.',
    submit: 'Crear la clave',
    made: (name: string) => `Tu nueva clave: ${name}`,
    madeText: 'Cópiala ahora. No se volverá a mostrar.',
  },
  /** The roles of members that latchkey knows, by their names. */
  roles: {
    owner: 'Propietario',
    admin: 'Administrador',
    member: 'Miembro',
  },
  organizations: {
    title: 'Organizaciones',
    lead: 'Una organización es un grupo de personas que comparten datos en esta app.',
    none: 'No eres miembro de ninguna organización.',
    next: 'Organizaciones más antiguas',
    create: 'Crear una organización',
    submitCreate: 'Crear',
    slug: 'Nombre corto',
    ownSlug: 'Elegir el nombre corto para direcciones web',
    newSlugHint:
      'Para direcciones web, como acme-2: minúsculas, dígitos y guiones. Si está vacío, se crea a partir del nombre.',
  },
  organization: {
    ownRole: 'Tu rol',
    change: 'Cambiar el nombre',
    save: 'Guardar',
    slugHint:
      'Para direcciones web, como acme-2: minúsculas, dígitos y guiones. Si lo cambias, los enlaces existentes a esta organización podrían dejar de funcionar.',
    members: 'Miembros',
    nextMembers: 'Miembros más antiguos',
    you: 'tú',
    since: (date: Html) => html`Miembro desde el ${date}`,
    changeMember: 'Editar',
    role: 'Rol',
    setRole: 'Cambiar el rol',
    of: (name: string) => `de ${name}`,
    remove: 'Quitar',
    removeText: 'Este usuario pierde de inmediato el acceso a la organización.',
    confirmRemove: 'Sí, quitar',
    invitations: 'Invitaciones',
    nextInvitations: 'Invitaciones más antiguas',
    expires: (time: Html) => html`Caduca el ${time}`,
    revoke: 'Revocar',
    invitationOf: (email: string) => `la invitación para ${email}`,
    revokeText: 'El enlace del correo dejará de funcionar.',
    confirmRevoke: 'Sí, revocar',
    invite: 'Invitar a alguien',
    inviteHint:
      'Enviaremos por correo un enlace que solo funciona para este correo electrónico. Si repites la invitación, el enlace anterior deja de funcionar.',
    submitInvite: 'Invitar',
    leaveTitle: 'Abandonar la organización',
    leaveText: 'Pierdes de inmediato el acceso a ella.',
    lastOwner:
      'Eres el único propietario, así que otro miembro debe pasar a ser propietario antes de que puedas abandonarla.',
    leave: 'Abandonar',
    confirmLeave: 'Sí, abandonar',
    deleteTitle: 'Eliminar la organización',
    deleteText:
      'Se elimina de inmediato para todos los miembros, con todo lo que le pertenece. Esto no se puede deshacer.',
    delete: 'Eliminar',
    confirmDelete: 'Sí, eliminar',
  },
  changes: {
    'account-deleted': 'Se eliminó la cuenta',
    'account-recovered': 'Se deshizo un cambio',
    'administrator-added': 'La cuenta pasó a ser de administrador',
    'administrator-acted': 'Alguien que gestiona esta app abrió tu cuenta',
    'api-key-created': 'Se creó una clave de API',
    'data-exported': 'Se descargaron los datos de la cuenta',
    'device-forgotten': 'Se olvidó un navegador',
    'email-change-requested': 'Se solicitó un nuevo correo electrónico',
    'email-changed': 'Se cambió el correo electrónico',
    'new-device': 'Se inició sesión en un nuevo navegador',
    'new-password-required': 'Se exigió una nueva contraseña',
    'organization-owner-added': 'Un miembro pasó a ser propietario de una organización',
    'passkey-added': 'Se añadió una llave de acceso',
    'passkey-removed': 'Se quitó una llave de acceso',
    'password-changed': 'Se cambió la contraseña',
    'password-removed': 'Se quitó la contraseña',
    'password-set': 'Se estableció una contraseña',
    'provider-linked': 'Se vinculó una cuenta',
    'provider-unlinked': 'Se desvinculó una cuenta',
    'recovery-code-used': 'Se usó un código de recuperación',
    'recovery-codes-renewed': 'Se crearon nuevos códigos de recuperación',
    'second-factor-attempts': 'Se escribieron códigos incorrectos',
    'second-factor-disabled': 'Se desactivó la autenticación de dos factores',
    'second-factor-enabled': 'Se activó la autenticación de dos factores',
    'username-changed': 'Se cambió el nombre de usuario',
  },

  users: {
    title: 'Usuarios',
    search: 'Buscar',
    searchHint: 'Parte de un correo electrónico o de un nombre de usuario. No se busca en nada más.',
    submitSearch: 'Buscar',
    none: 'No se encontraron usuarios.',
    noneFor: (searched: string) => `Ningún correo electrónico ni nombre de usuario contiene «${searched}».`,
    noneYet: 'Hasta ahora, la búsqueda no ha encontrado usuarios.',
    continueSearch: 'Continuar la búsqueda',
    next: 'Página siguiente',
    all: 'Mostrar todos los usuarios',
    user: 'Usuario',
    state: 'Estado',
    active: 'Activo',
    created: 'Creación',
    tags: {
      own: 'tú',
      closed: 'Eliminación pendiente',
      suspended: 'Suspendido',
      unverified: 'correo electrónico sin confirmar',
    },
    create: 'Crear un usuario',
    submitCreate: 'Crear el usuario',
    invites: 'El usuario recibirá un correo con un enlace para elegir una contraseña.',
    either: (invites: boolean) =>
      `Un usuario necesita un correo electrónico, un nombre de usuario o ambos.${invites ? ' Sin un correo electrónico, el usuario no puede elegir una contraseña. Pide a quienes gestionan el servidor que establezcan una.' : ''}`,
  },
  user: {
    account: 'Cuenta',
    profile: 'Perfil',
    signIn: 'Inicio de sesión',
    verified: 'Correo electrónico confirmado',
    created: 'Creación',
    state: 'Estado',
    active: 'Activo',
    own: 'Esta es tu propia cuenta.',
    closedSince: (time: Html) => html`La eliminación se solicitó el ${time}.`,
    restorableUntil: (time: Html) =>
      html`Hasta el ${time}, la cuenta se puede restaurar: con el enlace del correo sobre la eliminación, si lo hay, o con el comando <code>npx latchkey users restore</code>.`,
    suspendedSince: (time: Html, until: Html | null) =>
      until === null
        ? html`Suspendido desde el ${time}.`
        : html`Suspendido desde el ${time}, hasta el ${until}.`,
    reason: 'Motivo',
    reasonHint: 'Una nota para los administradores. El usuario no la ve.',
    until: 'Hasta',
    untilHint: 'Si lo dejas vacío, la suspensión dura hasta que la levantes.',
    emailedCode: 'Inicio de sesión por correo',
    secondFactor: 'Autenticación de dos factores',
    on: 'Activada',
    off: 'Desactivada',
    totp: 'App de autenticación',
    recoveryCodes: 'Códigos de recuperación restantes',
    passkeys: 'Llaves de acceso',
    providers: 'Cuentas vinculadas',
    // It is the value of masculine and feminine words, in the singular and the plural.
    none: 'No hay',
    edit: 'Editar',
    save: 'Guardar',
    actions: 'Acciones',
    roles: 'Roles',
    rolesText: 'Lo que el usuario tiene permitido hacer.',
    changeRoles: 'Cambiar',
    ofRoles: 'los roles',
    saveRoles: 'Guardar',
    fixedRoles:
      'Algunos roles permiten hacer más de lo que tú tienes permitido, así que no puedes cambiarlos.',
    acting: 'Actuar como este usuario',
    act: 'Actuar',
    ofActing: 'como este usuario',
    confirmAct: 'Sí, actuar',
    actText:
      'Ves la app como la ve el usuario y no puedes cambiar nada. Se cierra la sesión de tu propia cuenta y se informa al usuario.',
    actingSession: 'Un administrador que actúa como el usuario',
    suspension: 'Suspensión',
    suspend: 'Suspender',
    ofSuspension: 'al usuario',
    confirmSuspend: 'Sí, suspender',
    suspendText:
      'Se cerrarán todas las sesiones del usuario. Después, el usuario ya no podrá iniciar sesión.',
    reinstate: 'Levantar la suspensión',
    reinstateText: 'Si la levantas, el usuario podrá volver a iniciar sesión.',
    passwordLink: 'Nueva contraseña por correo',
    sendPasswordReset: 'Enviar un enlace para una nueva contraseña',
    sendPasswordResetText:
      'El usuario recibirá un correo. La contraseña actual funciona hasta que se use el enlace.',
    sendFirstPassword: 'Enviar un enlace para elegir una contraseña',
    sendFirstPasswordText:
      'El usuario no tiene contraseña y recibirá un correo con un enlace para elegir una.',
    newPassword: 'Nueva contraseña en el próximo inicio de sesión',
    requireNewPassword: 'Exigir',
    ofNewPassword: 'una nueva contraseña',
    confirmRequireNewPassword: 'Sí, exigir',
    requireNewPasswordText:
      'Se cerrarán todas las sesiones del usuario, y el usuario tendrá que reemplazar la contraseña actual.',
    disableSecondFactor: 'Desactivar',
    ofSecondFactor: 'la autenticación de dos factores',
    confirmDisableSecondFactor: 'Sí, desactivar',
    disableSecondFactorText:
      'Para un usuario que ha perdido la app de autenticación, las llaves de acceso y los códigos de recuperación. Se cerrarán todas las sesiones del usuario.',
    deletion: 'Eliminación',
    delete: 'Eliminar',
    ofDeletion: 'al usuario',
    confirmDelete: 'Sí, eliminar',
    deleteText: 'Se eliminará al usuario con todo lo que pertenece a la cuenta. No puedes deshacerlo.',
    closeText: (days: number) =>
      `Después, la cuenta no se podrá usar. Al cabo de ${countDays(days)}, se eliminará de forma permanente. Hasta entonces, se puede restaurar con el comando npx latchkey users restore.`,
    sessions: 'Sesiones',
    noSessions: 'El usuario no tiene ninguna sesión.',
    unknownDevice: 'Dispositivo desconocido',
    signedIn: (time: Html) => html`sesión iniciada el ${time}`,
    lastActive: (time: Html) => html`última actividad: ${time}`,
    endSession: 'Cerrar sesión',
    endSessions: 'Cerrar todas las sesiones',
    endSessionsText: 'Se cerrará la sesión del usuario en todos los dispositivos.',
    confirmEndSessions: 'Sí, cerrar todas',
    events: 'Eventos recientes',
    noEvents: 'No hay eventos.',
    eventNames: {
      'account.linked': 'Se vinculó una cuenta',
      'account.recovered': 'Se deshizo un cambio',
      'account.unlinked': 'Se desvinculó una cuenta',
      'admin.acting_started': 'Un administrador empezó a actuar como el usuario',
      'admin.password_reset_sent': 'Un administrador envió un enlace para una nueva contraseña',
      'admin.session_revoked': 'Un administrador cerró una sesión',
      'admin.sessions_revoked': 'Un administrador cerró todas las sesiones',
      'admin.user_created': 'Un administrador creó la cuenta',
      'admin.user_deleted': 'Un administrador eliminó la cuenta',
      'admin.user_updated': 'Un administrador modificó la cuenta',
      'api_key.created': 'Se creó una clave de API',
      'api_key.revoked': 'Se revocó una clave de API',
      'device.trusted': 'Se marcó un navegador como de confianza',
      'organization.created': 'Se creó una organización',
      'organization.deleted': 'Se eliminó una organización',
      'organization.invitation_created': 'Se creó una invitación a una organización',
      'organization.invitation_revoked': 'Se revocó una invitación a una organización',
      'organization.member_added': 'El usuario pasó a ser miembro de una organización',
      'organization.member_removed': 'El usuario ya no es miembro de una organización',
      'organization.member_role_changed': 'Se cambió el rol en una organización',
      'organization.updated': 'Se modificó una organización',
      'passkey.added': 'Se añadió una llave de acceso',
      'passkey.removed': 'Se quitó una llave de acceso',
      'password.changed': 'Se cambió la contraseña',
      'password.new_required': 'Se exigió una nueva contraseña',
      'password.removed': 'Se quitó la contraseña',
      'password.reset': 'Se reemplazó la contraseña con un enlace enviado por correo',
      'rate_limit.refused': 'Se rechazaron solicitudes porque había demasiadas',
      'mail.held': 'Hay correos a direcciones sin confirmar en espera porque había demasiados',
      'recovery_code.used': 'Se usó un código de recuperación',
      'second_factor.disabled': 'Se desactivó la autenticación de dos factores',
      'second_factor.enabled': 'Se activó la autenticación de dos factores',
      'session.created': 'El usuario inició sesión',
      'session.reauthenticated': 'El usuario confirmó su identidad',
      'session.revoked': 'Se cerró una sesión',
      'sign_in.failed': 'Falló un inicio de sesión',
      'sign_in.throttled': 'Se pausaron los inicios de sesión tras demasiados intentos incorrectos',
      'tokens.read': 'Se leyeron los tokens de una cuenta vinculada',
      'tokens.refreshed': 'Se renovaron los tokens de una cuenta vinculada',
      'user.created': 'Se creó la cuenta',
      'user.deleted': 'Se eliminó la cuenta',
      'user.deletion_requested': 'Se solicitó la eliminación de la cuenta',
      'user.email_changed': 'Se cambió el correo electrónico',
      'user.email_verified': 'Se confirmó el correo electrónico',
      'user.exported': 'Se descargaron los datos de la cuenta',
      'user.reinstated': 'Se levantó la suspensión',
      'user.restored': 'Se restauró la cuenta',
      'user.roles_changed': 'Se cambiaron los roles',
      'user.suspended': 'Se suspendió al usuario',
      'user.updated': 'Se modificó el perfil',
    },
  },

  refusal: {
    back: (appName: string) => `Volver a ${appName}`,
    notSaved: 'Lo que escribiste no se guardó.',
    signedInAs: (account: string) => `Has iniciado sesión como ${account}.`,
    other: 'Iniciar sesión con otra cuenta',
    stopActing: 'Dejar de actuar como este usuario',
    /** The titles of some errors, by their codes. */
    titlesOf: {
      acting_session: 'Ahora no puedes abrir esto',
      admin_required: 'No tienes acceso',
    },
    /** The titles of the other errors, by their statuses. */
    titles: {
      400: 'Esta dirección no es válida',
      401: 'Se cerró tu sesión',
      403: 'Esto no es posible',
      404: 'Página no encontrada',
      405: 'Esto no es posible',
      413: 'La solicitud es demasiado grande',
      429: 'Demasiados intentos',
      503: 'Inténtalo de nuevo en breve',
    },
    wait: (words: string) => `Inténtalo de nuevo dentro de ${words}.`,
  },
  /** What a page says to a user who was led there from another page. */
  needed: {
    'second-factor-needed':
      'La página que abriste necesita la autenticación de dos factores. Configúrala para continuar.',
    'password-dropped':
      'Hemos quitado la contraseña de esta cuenta porque se estableció antes de que confirmaras tu correo electrónico. Puedes establecer una nueva en esta página.',
    'recovery-code-used':
      'Has iniciado sesión con un código de recuperación, que ya no funciona. Si has perdido tu teléfono, configura una app de autenticación en otro. Esta página también dice cuántos códigos de recuperación te quedan.',
    'session-over': 'Tu sesión ha terminado. Inicia sesión de nuevo.',
    'set-up-expired': 'Esto tardó demasiado o ya se completó. Vuelve a configurar tu app de autenticación.',
  },
  /** What a user is told whose sign-in has created an account. */
  created: {
    welcome: (account: string | null) =>
      account === null
        ? 'Te damos la bienvenida. Hemos creado una nueva cuenta.'
        : `Te damos la bienvenida. Hemos creado una nueva cuenta para ${account}.`,
    hint: (signOut: Html) =>
      html`Si esperabas una cuenta existente, ${signOut} e inicia sesión con otro correo electrónico.`,
    signOut: 'cierra sesión',
  },
  done: {
    'signed-out': 'Has cerrado sesión.',
    'password-reset': 'Se cambió tu contraseña. Inicia sesión con ella.',
    'invitation-accepted': 'Tu cuenta está lista. Inicia sesión.',
    'signed-up': 'Se creó tu cuenta. Inicia sesión.',
    'signed-up-to-confirm':
      'Se creó tu cuenta. Inicia sesión y te enviaremos por correo un código para confirmar tu correo electrónico.',
    'account-deleted': 'Se eliminó tu cuenta.',
    'signed-out-everywhere': 'Has cerrado sesión en todos los dispositivos.',
    sent: 'El correo está en camino.',
    'password-changed': 'Se cambió tu contraseña. Se cerró tu sesión en todos los demás dispositivos.',
    'password-set': 'Tu cuenta ya tiene una contraseña.',
    'password-removed': 'Se quitó tu contraseña. Se cerró tu sesión en todos los demás dispositivos.',
    'second-factor-on':
      'La autenticación de dos factores está activada. Se cerró tu sesión en todos los demás dispositivos.',
    'second-factor-off': 'La autenticación de dos factores está desactivada.',
    'app-removed': 'Se quitó la app de autenticación.',
    'passkeys-off':
      'Tus llaves de acceso ya no son el segundo paso. Se cerró tu sesión en todos los demás dispositivos.',
    'codes-renewed': 'Tienes nuevos códigos de recuperación. Los códigos anteriores ya no funcionan.',
    'passkey-added': 'Se añadió la llave de acceso.',
    'passkey-removed': 'Se quitó la llave de acceso. Quítala también de tu dispositivo.',
    linked: 'Se vinculó la cuenta.',
    unlinked: 'Se desvinculó la cuenta.',
    'browser-forgotten': 'Se olvidó el navegador.',
    'browsers-not-trusted': 'A partir de ahora, cada inicio de sesión vuelve a pedir el segundo paso.',
    saved: 'Se guardaron tus cambios.',
    'details-saved': 'Se guardaron tus datos.',
    'username-saved': 'Se guardó tu nombre de usuario.',
    'email-change-sent':
      'Hay un correo con un enlace en camino a la nueva dirección. Abre el enlace antes de una hora y pulsa el botón que aparece. Revisa también la carpeta de spam.',
    'email-change-canceled':
      'Se canceló el cambio de tu correo electrónico. El enlace del correo ya no funciona.',
    'session-ended': 'Se cerró la sesión.',
    'other-sessions-ended': 'Se cerraron todas las demás sesiones.',
    'api-key-revoked': 'Se revocó la clave.',
    'organization-created': 'Se creó la organización. Tienes el rol de propietario.',
    'organization-saved': 'Se guardaron los cambios.',
    'member-role-changed': 'Se cambió el rol.',
    'member-removed': 'Se quitó al miembro.',
    'organization-left': 'Ya no eres miembro de esta organización.',
    'member-invited': 'La invitación está en camino por correo.',
    'organization-invitation-revoked': 'Se revocó la invitación. Su enlace ya no funciona.',
    'organization-deleted': 'Se eliminó la organización.',
    'user-created': 'Se creó el usuario.',
    'user-invited': 'Se creó el usuario, que recibirá un correo con un enlace para elegir una contraseña.',
    'user-changed': 'Se guardaron los cambios.',
    'user-roles-changed': 'Se cambiaron los roles.',
    'user-suspended': 'El usuario está suspendido.',
    'user-reinstated': 'Se levantó la suspensión.',
    'user-closed': 'La cuenta ya no se puede usar y se eliminará de forma permanente.',
    'user-deleted': 'Se eliminó al usuario.',
    'new-password-required': 'El usuario tiene que elegir una nueva contraseña.',
    'second-factor-disabled': 'Se desactivó la autenticación de dos factores del usuario.',
    'sessions-ended': 'Se cerraron todas las sesiones del usuario.',
  },

  errorTitle: (title: string) => `Error: ${title}`,
  errorHeading: 'Hay un problema',
  codeOver,

  /** What an error means to the user, by its code. */
  errors: {
    account_deleted:
      'Esta cuenta se eliminó. Durante algún tiempo se puede restaurar: con el enlace del correo sobre la eliminación, si lo hay, o con la ayuda de quienes gestionan esta app.',
    account_exists:
      'Ya tienes una cuenta con este correo electrónico. Inicia sesión en ella y luego vincula este servicio en Seguridad.',
    account_in_use: 'La cuenta aún no se puede eliminar porque otros datos dependen de ella.',
    account_linked_elsewhere:
      'Esta cuenta ya se usa para iniciar sesión en otra cuenta de aquí. Inicia sesión con ella o usa otra.',
    account_not_linked: 'Esta cuenta no está vinculada. Es posible que ya se haya desvinculado.',
    account_suspended: 'Esta cuenta está suspendida. Contacta con quienes gestionan este servicio.',
    access_denied:
      'Cancelaste el inicio de sesión en el otro servicio. Puedes intentarlo de nuevo o iniciar sesión de otra forma.',
    acting_session: 'Estás actuando como este usuario, así que solo puedes ver páginas de la app.',
    admin_required: 'Solo los administradores pueden abrir esta página.',
    already_member: 'Este usuario ya es miembro.',
    ambiguous_credentials: unexpected,
    api_key_not_found: 'Esta clave no existe. Es posible que ya se haya revocado.',
    body_too_large: 'Has escrito más de lo que admite este formulario. Acórtalo e inténtalo de nuevo.',
    body_too_slow: 'La conexión era demasiado lenta. Inténtalo de nuevo.',
    code_expired: 'Este código ya no funciona aquí. Pide otro.',
    device_not_found: 'Tu cuenta no conoce este navegador. Es posible que ya se haya quitado.',
    email_code_not_offered:
      'Aquí no se puede enviar ningún código por correo. Elige otra forma de confirmar que eres tú.',
    email_missing: 'Este usuario no tiene un correo electrónico al que enviar un enlace.',
    email_not_verified: 'Primero confirma tu correo electrónico.',
    email_taken: 'Otra cuenta tiene este correo electrónico.',
    email_unproven:
      'El correo electrónico de este usuario no está confirmado, así que el usuario podría ser otra persona.',
    human_check_failed: 'No pudimos confirmar que una persona envió esto. Inténtalo de nuevo.',
    'human_check_failed/no-script':
      'No pudimos confirmar que una persona envió esto. Activa JavaScript, recarga esta página e inténtalo de nuevo.',
    insufficient_scope: unexpected,
    invitation_for_other_email:
      'Esta invitación es para otro correo electrónico. Cierra sesión y luego vuelve a abrir el enlace del correo.',
    invitation_not_found: 'Esta invitación no existe. Es posible que ya se haya aceptado o revocado.',
    invalid_api_key: unexpected,
    invalid_callback_url: unexpected,
    invalid_code: 'Este código es incorrecto o ya se usó. Revísalo e inténtalo de nuevo.',
    invalid_credentials: 'El correo electrónico o la contraseña son incorrectos.',
    invalid_flow:
      'El inicio de sesión en el otro servicio tardó demasiado o se empezó en otro navegador. Inténtalo de nuevo.',
    invalid_json: unexpected,
    invalid_passkey: 'No se aceptó la llave de acceso. Inténtalo de nuevo.',
    invalid_request: unexpected,
    invalid_session: 'Se cerró tu sesión. Inicia sesión de nuevo para continuar.',
    invalid_token: 'Este enlace ya no es válido: ya se usó o ha caducado.',
    last_owner:
      'Una organización necesita un propietario cuya cuenta esté activa. Primero da a otro miembro el rol de propietario o elimina la organización.',
    last_sign_in_method: 'Esta es la única forma de iniciar sesión en tu cuenta. Primero añade otra.',
    mail_refused: 'Esta dirección no acepta correos. Revisa que no tenga errores de escritura.',
    member_not_found: 'Este usuario no es miembro. Es posible que ya haya dejado de serlo.',
    method_not_allowed: unexpected,
    new_password_required:
      'Esta cuenta necesita una nueva contraseña. Abre el enlace que te hemos enviado por correo.',
    no_passkey: 'Aún no tienes ninguna llave de acceso. Primero añade una.',
    organization_full: 'La organización ya tiene el máximo posible de miembros.',
    organization_in_use: 'La organización aún no se puede eliminar porque otros datos dependen de ella.',
    organization_not_found: 'Esta organización no existe o no eres miembro de ella.',
    origin_not_allowed:
      'Este formulario se envió desde otro sitio web o desde una dirección que no es la habitual de esta app. Abre la app en su dirección habitual e inténtalo de nuevo.',
    other_browser:
      'Pediste este correo en otro navegador. Escribe allí el código del correo. Si no lo pediste, ignora el correo.',
    own_account: 'Esta es tu propia cuenta. Pide a otro administrador que lo haga.',
    passkey_exists: 'Esta llave de acceso ya está en uso. Usa otro dispositivo o inicia sesión con ella.',
    passkey_not_found: 'Esta llave de acceso no existe. Es posible que ya se haya quitado.',
    password_already_set: 'La cuenta ya tiene una contraseña. Puedes cambiarla.',
    password_not_set: 'La cuenta no tiene contraseña.',
    proof_required: 'Se necesita algo más para demostrar que esta cuenta era tuya antes del cambio.',
    provider_already_linked: 'Ya hay otra cuenta de este servicio vinculada. Primero desvincúlala.',
    provider_error:
      'El otro servicio no respondió como se esperaba. Inténtalo de nuevo o inicia sesión de otra forma.',
    permission_required: 'No tienes permiso para hacer esto. Pídelo a un administrador.',
    provider_not_found: 'Este servicio no está disponible. Inicia sesión de otra forma.',
    provider_slow: 'El otro servicio tarda más de lo habitual. Inténtalo de nuevo en unos segundos.',
    rate_limited: 'Demasiados intentos. Inténtalo de nuevo más tarde.',
    /** An email that is asked for once more: the one before still works. */
    'rate_limited/again': 'Por ahora no podemos volver a enviar este correo. Usa el más reciente que tengas.',
    reauthentication_required:
      'Iniciaste sesión hace un tiempo. Confirma que eres tú y luego inténtalo de nuevo.',
    refresh_token_missing: 'Hay que volver a vincular esta cuenta.',
    relink_required: 'Hay que volver a vincular esta cuenta.',
    scope_required: unexpected,
    second_factor_demanded:
      'Tu cuenta necesita la autenticación de dos factores. Primero configura otra app de autenticación o llave de acceso.',
    second_factor_required:
      'Esto necesita la autenticación de dos factores. Confirma que eres tú y luego inténtalo de nuevo.',
    session_not_found: 'Esta sesión ya se cerró.',
    session_required: unexpected,
    sign_in_expired:
      'Esto ha caducado, ya se completó o se escribió mal un código demasiadas veces. Empieza de nuevo.',
    sign_up_incomplete: 'El otro servicio no compartió todo lo que necesita una cuenta.',
    sign_up_refused: 'No puedes crear una cuenta aquí. Pide una a quienes gestionan esta app.',
    target_is_administrator:
      'Este usuario es administrador, así que esto no es posible aquí. Pídelo a quienes gestionan esta app.',
    slug_taken: 'Otra organización tiene este nombre corto. Elige otro.',
    task_required: 'Hay un paso más antes de que puedas hacer esto.',
    too_many_api_keys: 'Ya tienes el máximo posible de claves. Revoca una que ya no necesites.',
    too_many_invitations:
      'La organización ya tiene el máximo posible de invitaciones. Revoca una o espera a que se acepte alguna.',
    too_many_organizations:
      'Ya tienes el máximo posible de organizaciones propias. Elimina una o da a otra persona el rol de propietario en alguna.',
    too_many_passkeys: 'Ya tienes el máximo posible de llaves de acceso. Quita una que ya no uses.',
    totp_not_enabled: 'La autenticación de dos factores está desactivada. Primero actívala.',
    unauthenticated: 'Se cerró tu sesión. Inicia sesión de nuevo para continuar.',
    unavailable: 'Esto no es posible en este momento.',
    unknown_passkey:
      'Ninguna cuenta tiene esta llave de acceso. Inicia sesión de otra forma y elimina la llave de acceso de tu dispositivo.',
    unsupported_media_type: unexpected,
    user_not_found: 'Este usuario no existe.',
    username_taken: 'Este nombre de usuario ya está en uso. Elige otro.',
    validation_failed: 'Revisa lo que has escrito.',
  },

  /** What the errors of a sign-in at a provider mean, with its name. */
  errorsAt: {
    access_denied: (provider) =>
      `Cancelaste la operación en ${provider}. Inténtalo de nuevo o inicia sesión de otra forma.`,
    account_exists: (provider) =>
      `Ya tienes una cuenta con el correo electrónico de tu cuenta de ${provider}. Inicia sesión en ella y luego vincula ${provider} en Seguridad.`,
    invalid_flow: (provider) =>
      `El inicio de sesión en ${provider} tardó demasiado o se empezó en otro navegador. Inténtalo de nuevo.`,
    provider_error: (provider) =>
      `${provider} no respondió como se esperaba. Inténtalo de nuevo o inicia sesión de otra forma.`,
    provider_slow: (provider) => `${provider} tarda más de lo habitual. Inténtalo de nuevo en unos segundos.`,
    sign_up_incomplete: (provider, page) =>
      `${provider} no compartió todo lo que necesita una cuenta.${page === 'sign-up' ? ' En su lugar, completa el formulario.' : ''}`,
  },

  /** The sentence that the exact wait replaces. */
  later: 'Inténtalo de nuevo más tarde.',

  /**
   * What an error means on one page, by the page's name, or in one of its forms, by the page's name and the form's. With
   * a slash before it, it is the error of a field that is not missing, or with `required` and what users sign in with, of
   * one that is. After a code and a slash, it is for one kind of code or
   * identifier, for one field that the error stands beside, or where a sign-up conceals which emails have an account.
   */
  errorsOf: {
    account: { invalid_credentials: 'Esta no es tu contraseña actual.' },
    'account/delete': {
      last_owner:
        'Eres el único propietario de una organización que tiene otros miembros. Primero nombra propietario a uno de ellos o elimina la organización. No se eliminó nada.',
    },
    'account/api-keys': { invalid_credentials: 'Esta no es tu contraseña actual.' },
    'account/api-keys/create': {
      '/expires_at': 'Elige una fecha posterior a hoy.',
      '/name': 'Escribe un nombre de 100 caracteres como máximo.',
      '/scopes':
        'Escribe nombres de permisos que enumera la documentación de esta app, separados por espacios o comas.',
    },
    'account/organizations/create': {
      admin_required: 'Solo los administradores pueden crear organizaciones.',
      email_not_verified: 'Primero confirma tu correo electrónico. Después podrás crear una organización.',
      '/name': 'Escribe un nombre de 100 caracteres como máximo.',
      '/slug': wrongSlug,
    },
    'account/organizations/organization': {
      invalid_credentials: 'Esta no es tu contraseña actual.',
      last_owner:
        'Esta organización se quedaría sin un propietario con la cuenta activa. Primero nombra propietario a otro miembro. No se cambió nada.',
      permission_required: 'Tu rol no permite esto. Pídelo a un propietario de la organización.',
    },
    'account/organizations/organization/invite': {
      permission_required: 'Tu rol no te permite invitar a alguien con este rol.',
      '/role': unknownRole,
    },
    'account/organizations/organization/remove/:userId': {
      permission_required: 'Tu rol no te permite quitar a este miembro.',
    },
    'account/organizations/organization/rename': {
      '/name': 'Escribe un nombre de 100 caracteres como máximo.',
      '/slug': wrongSlug,
    },
    'account/organizations/organization/set-role/:userId': {
      permission_required: 'Tu rol no te permite dar ni quitar este rol.',
      '/role': unknownRole,
    },
    'account/security': {
      access_denied: 'Cancelaste la operación en el otro servicio, así que no se vinculó ninguna cuenta.',
      email_not_verified:
        'Primero confirma tu correo electrónico. Después podrás activar la autenticación de dos factores y añadir llaves de acceso.',
      invalid_credentials: 'Esta no es tu contraseña actual.',
    },
    'account/security/second-factor/confirm-app': {
      invalid_code: 'Este no es el código que tu app muestra ahora. Espera al siguiente código y escríbelo.',
    },
    'administration/users/create': {
      email_taken: 'Un usuario ya tiene este correo electrónico.',
      username_taken: 'Un usuario ya tiene este nombre de usuario.',
      '/email/required/either': 'Escribe un correo electrónico o un nombre de usuario.',
      '/email/required/username': 'Escribe un correo electrónico o un nombre de usuario.',
    },
    'administration/users/user/roles': {
      permission_required: 'Un rol que cambiaste permite hacer más de lo que tú tienes permitido.',
      '/roles':
        'Elige roles de esta lista. Es posible que haya cambiado, así que vuelve a abrir esta página.',
    },
    'administration/users/user/edit': { username_taken: 'Otro usuario tiene este nombre de usuario.' },
    'administration/users/user/suspend': { '/until': 'Elige un momento en el futuro.' },
    'change-email/confirm': {
      email_taken: 'Ahora otra cuenta tiene este correo electrónico.',
      invalid_credentials: 'Esta no es la contraseña de esta cuenta.',
      'unauthenticated/password':
        'Escribe la contraseña de esta cuenta o abre este enlace donde tengas la sesión abierta.',
    },
    join: {
      account_exists: 'Este correo electrónico tiene una cuenta. Inicia sesión en ella y luego únete.',
      invalid_token: 'Esta invitación ya se usó, se reemplazó, se revocó o ha caducado.',
      sign_up_refused: 'No puedes crear una cuenta aquí. Pide una a quienes gestionan esta app.',
    },
    invitation: { invalid_token: 'Esta invitación ya se usó o ha caducado.' },
    'reauthenticate/confirm': {
      'invalid_code/code': wrongTotp,
      invalid_credentials: 'Esta no es tu contraseña actual.',
      sign_in_expired: codeOver,
    },
    /** The page about a rejected request, whose title says what has happened. */
    refusal: {
      invalid_session: 'Inicia sesión de nuevo para continuar.',
      unauthenticated: 'Inicia sesión de nuevo para continuar.',
      invalid_request: '',
    },
    'reset-password/set': {
      '/code': 'Escribe el código.',
      code_expired: codeOver,
      invalid_code: 'Este código es incorrecto. Revísalo en el correo más reciente e inténtalo de nuevo.',
    },
    'second-factor/confirm': {
      'invalid_code/totp': wrongTotp,
      sign_in_expired:
        'Este inicio de sesión ha caducado o se escribió un código incorrecto demasiadas veces. Inicia sesión de nuevo.',
      'sign_in_expired/email_code':
        'Este inicio de sesión ha caducado o se escribió un código incorrecto demasiadas veces. Inicia sesión de nuevo para recibir un nuevo código.',
      invalid_credentials: 'Este código es incorrecto o ya se usó. Revísalo e inténtalo de nuevo.',
    },
    'sign-in/email/confirm': {
      '/code': 'Escribe el código.',
      invalid_code: 'Este código es incorrecto. Revísalo en el correo más reciente e inténtalo de nuevo.',
      sign_in_expired: codeOver,
    },
    'sign-in/password': {
      'invalid_credentials/either':
        'El correo electrónico, el nombre de usuario o la contraseña son incorrectos.',
      'invalid_credentials/username': 'El nombre de usuario o la contraseña son incorrectos.',
      'invalid_credentials/email/concealed': `El correo electrónico o la contraseña son incorrectos${unconfirmed}`,
      'invalid_credentials/either/concealed': `El correo electrónico, el nombre de usuario o la contraseña son incorrectos${unconfirmed}`,
    },
    'sign-in/send-code': {
      '/email': 'Para recibir un código, escribe tu correo electrónico, como ada@example.com.',
    },
    'sign-in': {
      invalid_passkey: 'No se aceptó la llave de acceso. Inténtalo de nuevo o inicia sesión de otra forma.',
    },
    'sign-up': {
      sign_up_incomplete:
        'El otro servicio no compartió todo lo que necesita una cuenta. En su lugar, completa el formulario.',
    },
    'sign-up/password': {
      email_taken: 'Ya tienes una cuenta con este correo electrónico.',
      '/email/required/either': 'Escribe un correo electrónico, un nombre de usuario o ambos.',
    },
    'undo-change/confirm': {
      'invalid_code/code':
        'Este código es incorrecto o ya se usó. Espera al siguiente código de la app que tenías antes del cambio.',
      'invalid_code/recovery_code':
        'Este código de recuperación es incorrecto o ya se usó. Escribe uno que tenías antes del cambio.',
      invalid_credentials: 'Esta no era tu contraseña antes del cambio.',
      'invalid_code/account-deleted/code': wrongTotp,
      'invalid_code/account-deleted/recovery_code':
        'Este código de recuperación es incorrecto o ya se usó. Escribe otro.',
      'invalid_credentials/account-deleted/password': 'Esta no es la contraseña de esta cuenta.',
      'proof_required/account-deleted/password': ownPassword,
      'proof_required/code': 'Escribe un código de tu app de autenticación o un código de recuperación.',
      'proof_required/password': 'Escribe la contraseña que tenía la cuenta antes de este cambio.',
    },
    'verify-email/confirm': {
      invalid_code: 'Este código es incorrecto. Revísalo en el correo más reciente e inténtalo de nuevo.',
      invalid_credentials: 'Esta no es la contraseña de esta cuenta.',
      'unauthenticated/password': ownPassword,
    },
  },

  /** What to enter in a field that was left empty, by the field's name. After a slash, only if the app signs in by that. */
  missing: {
    code: 'Escribe el código.',
    confirmation: 'Escríbelo para confirmar. No se eliminó nada.',
    credential: 'Escribe tu correo electrónico o nombre de usuario.',
    'credential/email': 'Escribe tu correo electrónico.',
    'credential/username': 'Escribe tu nombre de usuario.',
    email: 'Escribe un correo electrónico.',
    email_code: 'Escribe el código.',
    name: 'Escribe un nombre.',
    new_email: 'Escribe tu nuevo correo electrónico.',
    slug: 'Escribe un nombre corto.',
    new_password: 'Escribe una nueva contraseña.',
    password: 'Escribe una contraseña.',
    recovery_code: 'Escribe un código de recuperación.',
    scopes: 'Elige al menos un permiso.',
    username: 'Escribe un nombre de usuario.',
  },

  /** What is wrong with a field of the app whose pattern does not allow the value. */
  wrongFormat: (label: string, hint: string | null) =>
    `Revisa el formato de «${label}».${hint === null ? '' : ` ${hint}`}`,
  /** What is missing in a list of values. */
  notChosen: 'Elige una de estas opciones.',

  wholeLink: 'Si el enlace está incompleto, copia el enlace entero del correo.',
  otherAccount: (account: string) =>
    `Ahora has iniciado sesión como ${account}, pero este formulario era de otra cuenta. No se cambió nada.`,
  /** What is wrong with a field, by the code of its error. Other errors keep their own words. */
  fieldErrors: {
    not_confirmed: 'Esto no coincide. No se eliminó nada.',
    invalid_email: 'Escribe un correo electrónico como ada@example.com.',
    /** Instead of `invalid_email`, if there is a letter such as é before the @. */
    internationalized_email:
      'Escribe un correo electrónico sin acentos ni otras letras especiales antes de la @.',
    other_account: 'Entretanto, has iniciado sesión en otra cuenta. No se cambió nada.',
    password_breached: 'Esta contraseña apareció en una filtración de datos. Elige otra.',
    password_is_identifier: 'Elige una contraseña que no sea tu correo electrónico ni tu nombre de usuario.',
    password_too_common: 'Esta contraseña es fácil de adivinar. Elige otra.',
    required: 'Completa este campo.',
    same_email: 'Este ya es tu correo electrónico.',
    same_password: 'Esta es tu contraseña actual. Elige otra.',
    taken: 'Esto ya está en uso. Elige otro valor.',
    unknown_key: 'Este campo no se esperaba aquí. Recarga la página e inténtalo de nuevo.',
    wrong_type: 'Este valor no es posible aquí. Revísalo e inténtalo de nuevo.',
    /** After a slash, only for the app's own fields of this type. */
    'wrong_type/integer': 'Escribe un número entero, como 45.',
    'wrong_type/number': 'Escribe un número.',
    'invalid/plainDate': 'Escribe una fecha.',
  },

  /** The links to the next step after an error. */
  steps: {
    'forgot-password': 'Restablecer tu contraseña',
    reauthenticate: 'Confirmar que eres tú',
    'sign-in': 'Iniciar sesión',
    'sign-up': 'Crear una cuenta',
    support: 'Contactar con soporte',
    'verify-email': 'Confirmar tu correo electrónico',
  },
};
