import { type Html, html } from '../../html.js';
import type { Unit } from '../../phrases.js';
import type { ErrorWords } from '../../words/catalogue.js';
import { pluralsIn } from '../../words/plural.js';

const plural = pluralsIn('es');

const forms = {
  characters: { one: 'carácter', many: 'de caracteres', other: 'caracteres' },
  items: { one: 'elemento', many: 'de elementos', other: 'elementos' },
};

function counted(count: number, unit: Unit): string {
  return `${count} ${plural(count, forms[unit])}`;
}

function characters(count: number): string {
  return counted(count, 'characters');
}

/** What errors say in Spanish. */
export const errors: ErrorWords = {
  problems: {
    // General.
    invalid_json: 'El cuerpo no es JSON válido en UTF-8.',
    invalid_request: 'La solicitud está mal formada: revisa su ruta, sus parámetros y sus encabezados.',
    invalid_callback_url: 'callback_url debe ser una ruta de esta app o una URL de un origen de confianza.',
    invalid_token: 'El enlace ha caducado, ya se usó o no es válido. Solicita uno nuevo.',
    unauthenticated: 'Primero inicia sesión: la solicitud no incluye ninguna sesión.',
    invalid_session: 'La sesión ha terminado o nunca existió. Inicia sesión de nuevo.',
    invalid_code: 'El código es incorrecto o ya se usó. Revísalo o escribe uno más reciente.',
    sign_in_expired: 'Este inicio de sesión tardó demasiado o ya se completó. Empieza de nuevo.',
    invalid_credentials:
      'El nombre de la cuenta o la contraseña son incorrectos. Revisa ambos e inténtalo de nuevo.',
    admin_required: 'Solo un administrador puede hacer esto: inicia sesión como administrador.',
    permission_required: 'No tienes el permiso que esto requiere.',
    target_is_administrator:
      'Este usuario es administrador, así que esto no es posible aquí: quienes gestionan esta app lo hacen en su configuración.',
    insufficient_scope: 'A la credencial le falta un permiso requerido: usa una que lo tenga.',
    scope_required:
      'Esta credencial está limitada a sus permisos, y ninguno de ellos permite esta ruta: usa una credencial sin esa limitación.',
    session_required: 'Esto requiere una sesión: inicia sesión.',
    email_not_verified:
      'Primero confirma tu correo electrónico: abre el enlace del correo que se te ha enviado.',
    sign_up_refused: 'No puedes crear una cuenta aquí. Pide una a quienes gestionan esta app.',
    second_factor_required: 'Esto requiere tu segundo factor: proporciónalo con POST /reauthenticate.',
    reauthentication_required:
      'Iniciaste sesión hace demasiado tiempo. Confirma que eres tú y luego inténtalo de nuevo.',
    origin_not_allowed:
      'Esto se envió desde otro sitio web o desde una dirección que no es la habitual de esta app. Abre la app en su dirección habitual e inténtalo de nuevo.',
    user_not_found: 'Este usuario no existe: revisa el ID.',
    session_not_found: 'No tienes ninguna sesión así: es posible que ya haya terminado.',
    method_not_allowed: 'Esta ruta no admite este método: consulta Allow.',
    body_too_slow: 'El cuerpo tardó más de 10 segundos en llegar. Envíalo de nuevo.',
    account_exists:
      'Ya existe una cuenta con este correo electrónico. Inicia sesión en ella y luego inténtalo de nuevo.',
    email_taken:
      'Ya existe una cuenta con este correo electrónico. Inicia sesión en ella o usa otro correo electrónico.',
    username_taken: 'Este nombre de usuario ya está en uso. Elige otro.',
    slug_taken: 'Otra organización tiene este nombre corto. Elige otro.',
    own_account: 'Esta es tu propia cuenta: debe hacerlo otro administrador.',
    account_in_use: 'La cuenta no se puede eliminar porque otros datos dependen de ella.',
    last_sign_in_method: 'Este es tu único método de inicio de sesión. Primero añade otro.',
    body_too_large: 'El cuerpo ocupa más de 16 KiB.',
    unsupported_media_type: 'Envía el cuerpo como application/json en UTF-8, sin comprimir.',
    validation_failed: 'El cuerpo no es válido: consulta errors.',
    rate_limited: 'Demasiados intentos. Inténtalo de nuevo más tarde.',
    mail_refused: 'El servidor de correo rechaza este correo de forma permanente: revisa la dirección.',
    unavailable: 'El servicio no está disponible temporalmente. Inténtalo de nuevo en breve.',

    // Accounts and sessions.
    account_deleted:
      'Esta cuenta se eliminó. Durante algún tiempo se puede restaurar: con el enlace del correo sobre la eliminación, si lo hay, o con la ayuda de quienes gestionan esta app.',
    account_suspended: 'Esta cuenta está suspendida. Contacta con quienes gestionan este servicio.',
    acting_session:
      'Un administrador está actuando como este usuario, y así esto no está permitido. Primero deja de actuar: cierra sesión.',
    code_expired: 'Este código ya no funciona aquí. Pide otro.',
    device_not_found: 'Tu cuenta no conoce este navegador. Es posible que ya lo haya olvidado.',
    email_code_not_offered: 'Aquí no se envía ningún código por correo. Usa otro de tus métodos.',
    email_missing: 'Este usuario no tiene un correo electrónico al que enviar un enlace.',
    email_unproven:
      'Una cuenta tiene este correo electrónico, pero nadie ha demostrado que pertenece a su usuario. Primero confirma el correo electrónico o elimina la cuenta.',
    human_check_failed:
      'No se pudo confirmar que una persona envió esto. Recarga la página y luego inténtalo de nuevo.',
    new_password_required:
      'Esta cuenta necesita una nueva contraseña. Abre el enlace del correo que se te ha enviado o solicita otro correo.',
    no_passkey:
      'Antes de este cambio, la cuenta no llevaba suficiente tiempo con una llave de acceso. Escribe la contraseña y el segundo factor de antes del cambio.',
    password_already_set: 'La cuenta ya tiene una contraseña. En su lugar, cámbiala.',
    password_not_set: 'La cuenta no tiene contraseña.',
    proof_required:
      'El enlace no basta por sí solo. Ábrelo en un navegador que la cuenta ya conociera desde hacía un tiempo y proporciona la prueba que requería un inicio de sesión antes de este cambio. Consulta missing.',
    second_factor_demanded:
      'Esta cuenta debe tener un segundo factor. Primero configura otro y luego quita este.',
    task_required: 'Primero debes completar una tarea: consulta task.',
    totp_not_enabled: 'Esta cuenta no tiene un segundo factor. Primero configura uno.',

    // API keys.
    ambiguous_credentials:
      'La solicitud presenta una clave de API y otra credencial. Envía solo una de las dos.',
    invalid_api_key: 'La clave de API ha caducado, se revocó o nunca existió. Crea una nueva.',
    api_key_not_found: 'No tienes ninguna clave de API así. Es posible que ya se haya revocado.',
    too_many_api_keys: 'Tienes el número máximo de claves de API. Revoca una que ya no necesites.',

    // Emailed sign-ins and providers.
    other_browser:
      'Este enlace solo funciona en el navegador donde lo pediste. Escribe allí el código del correo.',
    invalid_flow:
      'Este inicio de sesión no se empezó en este navegador, ya se completó o tardó demasiado. Empieza de nuevo.',
    access_denied: 'Se rechazó el inicio de sesión en el proveedor. Empieza de nuevo y acéptalo allí.',
    sign_up_incomplete:
      'El proveedor no devolvió todo lo que necesita una cuenta. Crea la cuenta de otra forma.',
    account_not_linked: 'No has vinculado ninguna cuenta de este proveedor. Primero vincula una.',
    provider_not_found: 'Este proveedor no existe: revisa su ID.',
    account_linked_elsewhere:
      'Esta cuenta está vinculada a otro usuario. Primero inicia sesión como ese usuario y desvincúlala.',
    provider_already_linked: 'Ya hay otra cuenta de este proveedor vinculada. Primero desvincúlala.',
    refresh_token_missing:
      'El proveedor no emitió ningún token de actualización para esta cuenta. Vuelve a vincular la cuenta.',
    relink_required: 'Estos tokens ya no se pueden usar. Vuelve a vincular la cuenta.',
    provider_error: 'El proveedor no respondió como se esperaba. Inténtalo de nuevo más tarde.',
    provider_slow: 'El proveedor aún no ha respondido. Inténtalo de nuevo en unos segundos.',

    // Organizations.
    organization_not_found: 'Esta organización no existe o no eres miembro de ella.',
    member_not_found: 'La organización no tiene este miembro.',
    invitation_not_found: 'Esta invitación no existe. Es posible que ya se haya aceptado o revocado.',
    too_many_organizations:
      'Tienes el número máximo de organizaciones propias. Elimina una o deja de ser propietario de alguna.',
    already_member: 'Este usuario ya es miembro de la organización.',
    organization_full: 'La organización tiene el número máximo de miembros.',
    last_owner:
      'La organización se quedaría sin un propietario cuya cuenta esté activa. Primero da a otro miembro el rol de propietario.',
    organization_in_use: 'Aún hay otros datos que pertenecen a esta organización. Primero elimínalos.',
    too_many_invitations:
      'La organización tiene el número máximo de invitaciones pendientes. Revoca algunas o espera a que se acepten.',
    invitation_for_other_email:
      'Esta invitación es para otro correo electrónico. Cierra sesión y vuelve a abrir el enlace.',

    // Passkeys.
    invalid_passkey:
      'No se pudo verificar la llave de acceso o ha pasado demasiado tiempo. Inténtalo de nuevo.',
    unknown_passkey:
      'Ninguna cuenta tiene esta llave de acceso. Inicia sesión de otra forma y elimina la llave de acceso de tu dispositivo.',
    passkey_not_found: 'No tienes ninguna llave de acceso así. Es posible que ya se haya quitado.',
    passkey_exists:
      'Esta llave de acceso ya está en uso. Usa otro dispositivo o inicia sesión con esta llave de acceso.',
    too_many_passkeys: 'Tienes el número máximo de llaves de acceso. Quita una que ya no uses.',
  },

  phrases: {
    // Predicates, which follow the name of a field.
    required: 'falta',
    invalid: 'tiene un valor no válido',
    'unknown-key': 'no es un campo de esta solicitud',
    'wrong-type': ({ type }) => `debe ser de tipo ${type}`,
    'too-short': ({ minimum, unit }) => `debe tener al menos ${counted(minimum, unit)}`,
    'too-long': ({ maximum, unit }) => `debe tener como máximo ${counted(maximum, unit)}`,
    'too-small': ({ minimum }) => `debe ser como mínimo ${minimum}`,
    'too-large': ({ maximum }) => `debe ser como máximo ${maximum}`,
    'malformed-text': 'debe ser Unicode bien formado, sin el carácter NUL',
    'not-one-of': ({ values }) => `debe ser uno de estos valores: ${values.join(', ') || '(ninguno)'}`,
    taken: 'ya está en uso: elige otro valor',
    'not-storable': 'tiene un valor que no se puede guardar',

    // The fields of the app.
    'outside-pattern': 'debe ajustarse al patrón de este campo',
    'not-a-date': 'debe ser un objeto Date en los años 1 a 9999',
    'not-a-time': 'debe ser una fecha y hora ISO 8601, como 2026-01-31T12:00:00Z',
    'not-a-day': 'debe ser un día, como 1815-12-10',
    'outside-years': 'debe estar en los años 1 a 9999',
    'not-json': 'debe ser un valor que se pueda representar en JSON',
    'json-null': 'no debe ser null',
    'json-too-deep': ({ maximum }) =>
      `debe tener como máximo ${maximum} ${plural(maximum, { one: 'nivel', many: 'de niveles', other: 'niveles' })} de anidamiento`,
    'json-too-large': ({ maximum }) => `debe ocupar como máximo ${maximum} KiB como JSON`,
    'json-proto': 'no debe tener ninguna clave __proto__',

    // Bodies and forms.
    'sent-twice': 'se envió más de una vez',
    'not-single': 'debe ser un solo valor',
    'not-checkboxes': 'debe nombrar casillas de este formulario',
    'not-exactly-one': ({ values }) => `debe tener exactamente uno de estos campos: ${values.join(', ')}`,
    'not-code-or-token': 'debe estar presente si no hay ningún token, y solo entonces',
    'only-together': ({ field }) => `solo se acepta junto con ${field}`,
    'not-in-future': 'debe ser un momento en el futuro, anterior al año 10000',
    'not-confirmed': 'debe ser lo que pide la página',
    'other-account': 'es de otra cuenta',

    // Emails and usernames.
    'invalid-email': 'debe ser un correo electrónico como ada@example.com',
    'internationalized-email':
      'es una dirección internacionalizada, con caracteres que no son ASCII antes de la @, y no se acepta: usa una dirección en ASCII',
    'same-email': 'es el correo electrónico que ya tiene la cuenta',
    'email-not-accepted': 'no se acepta: en su lugar, las cuentas tienen un nombre de usuario',
    'invalid-username':
      'debe tener de 3 a 30 caracteres: letras de la a a la z, dígitos, guiones bajos, puntos y guiones',
    'username-not-allowed': ({ maximum }) =>
      `debe ser un nombre que esta app permita: como máximo ${characters(maximum)}, sin @ y sin espacios al principio ni al final`,
    'username-not-accepted': 'no se acepta: los nombres de usuario no están habilitados',
    'enter-identifier': 'falta: escribe un correo electrónico, un nombre de usuario o ambos',
    'user-without-identifier': 'falta: un usuario necesita un correo electrónico o un nombre de usuario',
    'pass-identifier': 'falta: pasa un correo electrónico o un nombre de usuario',

    // Passwords.
    'password-too-common': 'es una de las contraseñas más comunes; elige otra',
    'password-of-app-words': 'se basa en palabras fáciles de adivinar aquí; elige otra contraseña',
    'password-breached': 'apareció en una filtración de datos; elige otra contraseña',
    'password-is-email': 'no debe ser tu correo electrónico',
    'password-is-username': 'no debe ser tu nombre de usuario',
    'same-password': 'debe ser diferente de la contraseña actual',
    'invalid-password': ({ maximum }) =>
      `debe tener de 1 a ${characters(maximum)} de Unicode bien formado, sin NUL`,

    // Passkeys, API keys, organizations, roles and the administration.
    'invalid-name': ({ maximum }) => `debe tener de 1 a ${maximum} caracteres visibles`,
    'invalid-slug':
      'debe tener de 2 a 63 minúsculas, dígitos y guiones sueltos, empezar y terminar con una letra o un dígito y no parecer un ID',
    'invalid-scopes': ({ maximum }) =>
      `debe tener como máximo ${maximum} ${plural(maximum, { one: 'palabra', many: 'de palabras', other: 'palabras' })} de caracteres ASCII visibles, sin comillas ni barras invertidas`,
    'invalid-rights': 'debe ser some o all',
    'not-roles': 'debe ser una lista de roles',
    'too-many-roles': ({ maximum }) =>
      `debe contener como máximo ${maximum} ${plural(maximum, { one: 'rol', many: 'de roles', other: 'roles' })}`,
    'invalid-reason': ({ maximum }) => `debe tener de 1 a ${maximum} caracteres visibles`,
    'reason-too-long': ({ maximum }) =>
      `debe tener como máximo ${characters(maximum)} de Unicode bien formado, sin NUL`,

    // The details of problems, which are whole sentences.
    'totp-locked':
      'Después de demasiados códigos incorrectos, ya no se aceptan códigos de la app de autenticación. Usa un código de recuperación o una llave de acceso, o pide ayuda a quienes gestionan este servicio.',
    'totp-not-started':
      'No hay ninguna app de autenticación que confirmar. Si la configuración tardó más de 10 minutos, vuelve a empezarla.',
    'no-passkey-yet': 'No tienes ninguna llave de acceso. Primero añade una.',
    'unknown-browser':
      'Este navegador es nuevo para tu cuenta. Inicia sesión de nuevo: recibirás un correo con un código que confirma que eres tú.',
    'no-authentication-time':
      'Este proveedor no indica cuándo iniciaste sesión en él. Confirma tu contraseña, usa un proveedor de OpenID Connect que lo indique o inicia sesión de nuevo.',
    'provider-without-fields': ({ fields }) =>
      `El proveedor no devolvió los campos obligatorios: ${fields.join(', ')}.`,
    'wrong-former-password':
      'La contraseña es incorrecta. Escribe la contraseña que tenía la cuenta antes de este cambio.',
    'undo-without-email':
      'Otra cuenta tiene el correo electrónico de antes de este cambio, así que deshacer el cambio dejaría tu cuenta sin ninguna forma de iniciar sesión. Contacta con soporte.',
    'no-such-session-of-user': 'Este usuario no tiene ninguna sesión así. Es posible que ya haya terminado.',
    'role-for-unproven-email':
      'Nadie ha demostrado que el correo electrónico de este usuario le pertenece, así que el usuario podría ser otra persona. Primero pide al usuario que confirme el correo electrónico.',
    'account-incomplete': 'La cuenta está incompleta. Consulta el registro para ver la solución.',
    'schema-outdated':
      'El esquema de la base de datos no corresponde a esta versión. Consulta el registro para ver la solución.',
  },

  refusal: {
    field: (name: string | null, detail: string) => `${name ?? 'El formulario'} ${detail}`,
    wait: (time: string) => `Inténtalo de nuevo dentro de ${time}.`,
    start: 'la página de inicio',
    back: (link: Html) => html`Vuelve a la página anterior o a ${link}.`,
  },
};
