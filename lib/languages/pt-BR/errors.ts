import { html } from '../../html.js';
import type { ErrorWords } from '../../words/catalogue.js';
import { pluralsIn } from '../../words/plural.js';

const plural = pluralsIn('pt-BR');

const UNITS = {
  characters: { one: 'caractere', many: 'de caracteres', other: 'caracteres' },
  items: { one: 'item', many: 'de itens', other: 'itens' },
};

/** Returns a number of characters or items in words. */
function counted(count: number, unit: keyof typeof UNITS): string {
  return `${count} ${plural(count, UNITS[unit])}`;
}

/** Returns a number of roles in words. */
function rolesOf(count: number): string {
  return `${count} ${plural(count, { one: 'função', many: 'de funções', other: 'funções' })}`;
}

/** What errors say in Brazilian Portuguese. */
export const errors: ErrorWords = {
  problems: {
    // Requests.
    invalid_json: 'O corpo não é um JSON válido em UTF-8.',
    invalid_request: 'A solicitação está malformada: verifique o caminho, os parâmetros e os cabeçalhos.',
    invalid_callback_url: 'callback_url deve ser um caminho deste app ou uma URL de uma origem confiável.',
    invalid_token: 'O link expirou, já foi usado ou não é válido. Peça um novo.',
    unauthenticated: 'Primeiro, faça login: a solicitação não inclui uma sessão.',
    invalid_session: 'A sessão terminou ou nunca existiu. Faça login novamente.',
    invalid_code: 'O código está incorreto ou já foi usado. Verifique o código ou digite um mais novo.',
    sign_in_expired: 'Este login demorou demais ou já foi concluído. Comece novamente.',
    invalid_credentials: 'O nome da conta ou a senha estão incorretos. Verifique os dois e tente novamente.',
    admin_required: 'Só um administrador pode fazer isso: faça login como administrador.',
    permission_required: 'Você não tem a permissão que isso exige.',
    target_is_administrator:
      'Este usuário é administrador, então isso não é possível aqui: os responsáveis por este app fazem isso na configuração dele.',
    insufficient_scope: 'Falta um escopo exigido na credencial: use uma que o tenha.',
    scope_required:
      'Esta credencial é limitada aos escopos dela, e nenhum escopo permite este caminho: use uma credencial sem escopos.',
    session_required: 'Isso exige uma sessão: faça login.',
    email_not_verified:
      'Primeiro, confirme seu endereço de e-mail: abra o link do e-mail que foi enviado para você.',
    sign_up_refused: 'Não é possível criar uma conta aqui. Peça uma conta aos responsáveis por este app.',
    second_factor_required: 'Isso exige seu segundo fator: forneça-o com POST /reauthenticate.',
    reauthentication_required: 'Você fez login há muito tempo. Confirme que é você e depois tente novamente.',
    origin_not_allowed:
      'Isso foi enviado de outro site ou de um endereço que não é o habitual deste app. Abra o app no endereço habitual e tente novamente.',
    user_not_found: 'Este usuário não existe: verifique o id.',
    session_not_found: 'Você não tem esta sessão: talvez ela já tenha terminado.',
    method_not_allowed: 'Este caminho não aceita este método: consulte Allow.',
    body_too_slow: 'O corpo demorou mais de 10 segundos para chegar. Envie-o novamente.',
    account_exists: 'Já existe uma conta com este e-mail. Faça login nela e depois tente novamente.',
    email_taken: 'Já existe uma conta com este e-mail. Faça login nela ou use outro e-mail.',
    username_taken: 'Este nome de usuário já está em uso. Escolha outro.',
    slug_taken: 'Outra organização tem este nome curto. Escolha outro.',
    own_account: 'Esta é sua própria conta: outro administrador precisa fazer isso.',
    account_in_use: 'A conta não pode ser excluída, porque outros dados dependem dela.',
    last_sign_in_method: 'Este é seu único método de login. Primeiro, adicione outro.',
    body_too_large: 'O corpo tem mais de 16 KiB.',
    unsupported_media_type: 'Envie o corpo como application/json em UTF-8, sem compactação.',
    validation_failed: 'O corpo não é válido: consulte errors.',
    rate_limited: 'Tentativas demais. Tente novamente mais tarde.',
    mail_refused: 'O servidor de e-mail rejeita este e-mail permanentemente: verifique o endereço.',
    unavailable: 'O serviço está temporariamente indisponível. Tente novamente em breve.',
    human_check_failed:
      'Não foi possível confirmar que isso foi enviado por uma pessoa. Recarregue a página e depois tente novamente.',

    // Accounts and sessions.
    account_deleted:
      'Esta conta foi excluída. Por algum tempo, ela pode ser restaurada: com o link do e-mail sobre a exclusão, se houver um, ou pelos responsáveis por este app.',
    account_suspended: 'Esta conta está suspensa. Fale com os responsáveis por este serviço.',
    acting_session:
      'Um administrador está agindo como este usuário, o que não permite isso. Primeiro, pare de agir como ele: saia da conta.',
    code_expired: 'Este código não funciona mais aqui. Peça outro.',
    device_not_found: 'Sua conta não conhece este navegador. Talvez ela já o tenha esquecido.',
    email_code_not_offered: 'Nenhum código é enviado por e-mail aqui. Use um dos seus outros métodos.',
    email_missing: 'Este usuário não tem um endereço de e-mail para receber um link.',
    email_unproven:
      'Uma conta tem este e-mail, mas ninguém comprovou que o e-mail pertence ao usuário dela. Primeiro, confirme o e-mail ou exclua a conta.',
    new_password_required:
      'Esta conta precisa de uma nova senha. Abra o link do e-mail que foi enviado para você ou peça outro e-mail.',
    no_passkey:
      'A conta não tinha uma chave de acesso por tempo suficiente antes desta alteração. Digite a senha e o segundo fator de antes da alteração.',
    other_browser: 'Este link só funciona no navegador em que você o pediu. Digite lá o código do e-mail.',
    password_already_set: 'A conta já tem uma senha. Em vez disso, altere-a.',
    password_not_set: 'A conta não tem senha.',
    proof_required:
      'Só o link não é suficiente. Abra-o em um navegador que a conta já conhecia havia algum tempo e forneça a prova que um login exigia antes desta alteração. Consulte missing.',
    second_factor_demanded:
      'Esta conta precisa ter um segundo fator. Primeiro, configure outro e depois remova este.',
    task_required: 'Primeiro, você precisa concluir uma tarefa: consulte task.',
    totp_not_enabled: 'Esta conta não tem um segundo fator. Primeiro, configure um.',

    // Providers.
    access_denied: 'O login no provedor foi recusado. Comece novamente e aceite-o lá.',
    account_linked_elsewhere:
      'Esta conta está vinculada a outro usuário. Primeiro, faça login como esse usuário e desvincule-a.',
    account_not_linked: 'Você não vinculou uma conta deste provedor. Primeiro, vincule uma.',
    invalid_flow:
      'Este login não foi iniciado neste navegador, já foi concluído ou demorou demais. Comece novamente.',
    provider_already_linked: 'Outra conta deste provedor já está vinculada. Primeiro, desvincule essa conta.',
    provider_error: 'O provedor não respondeu como esperado. Tente novamente mais tarde.',
    provider_not_found: 'Este provedor não existe: verifique o id dele.',
    provider_slow: 'O provedor ainda não respondeu. Tente novamente em alguns segundos.',
    refresh_token_missing:
      'O provedor não emitiu um token de atualização para esta conta. Vincule a conta novamente.',
    relink_required: 'Estes tokens não podem mais ser usados. Vincule a conta novamente.',
    sign_up_incomplete:
      'O provedor não retornou tudo o que é necessário para uma conta. Crie a conta de outra forma.',

    // Passkeys and API keys.
    ambiguous_credentials:
      'A solicitação apresenta uma chave de API e outra credencial. Envie somente uma delas.',
    api_key_not_found: 'Você não tem esta chave de API. Talvez ela já tenha sido revogada.',
    invalid_api_key: 'A chave de API expirou, foi revogada ou nunca existiu. Crie uma nova.',
    invalid_passkey: 'Não foi possível verificar a chave de acesso, ou passou tempo demais. Tente novamente.',
    passkey_exists:
      'Esta chave de acesso já está em uso. Use outro dispositivo ou faça login com esta chave de acesso.',
    passkey_not_found: 'Você não tem esta chave de acesso. Talvez ela já tenha sido removida.',
    too_many_api_keys: 'Você já tem o máximo possível de chaves de API. Revogue uma de que não precisa mais.',
    too_many_passkeys: 'Você já tem o máximo possível de chaves de acesso. Remova uma que não usa mais.',
    unknown_passkey:
      'Nenhuma conta tem esta chave de acesso. Faça login de outra forma e exclua a chave de acesso do seu dispositivo.',

    // Organizations.
    already_member: 'Este usuário já é membro da organização.',
    invitation_for_other_email: 'Este convite é para outro e-mail. Saia da conta e abra novamente o link.',
    invitation_not_found: 'Este convite não existe. Talvez ele já tenha sido aceito ou revogado.',
    last_owner:
      'A organização ficaria sem um proprietário com uma conta ativa. Primeiro, torne outro membro proprietário.',
    member_not_found: 'A organização não tem este membro.',
    organization_full: 'A organização já tem o máximo possível de membros.',
    organization_in_use: 'Outros dados ainda pertencem a esta organização. Primeiro, remova esses dados.',
    organization_not_found: 'Esta organização não existe ou você não é membro dela.',
    too_many_invitations:
      'A organização já tem o máximo possível de convites pendentes. Revogue alguns ou aguarde até que sejam aceitos.',
    too_many_organizations:
      'Você já é proprietário do máximo possível de organizações. Exclua uma ou deixe de ser proprietário de uma.',
  },

  refusal: {
    field: (name, detail) => `${name ?? 'O formulário'} ${detail}`,
    wait: (time) => `Tente novamente em ${time}.`,
    start: 'a página inicial',
    back: (link) => html`Volte para a página anterior ou para ${link}.`,
  },

  phrases: {
    // Predicates, which follow the name of a field.
    required: 'está faltando',
    invalid: 'não é um valor válido',
    'unknown-key': 'não é um campo desta solicitação',
    'wrong-type': ({ type }) => `deve ser do tipo ${type}`,
    'too-short': ({ minimum, unit }) => `deve ter pelo menos ${counted(minimum, unit)}`,
    'too-long': ({ maximum, unit }) => `deve ter no máximo ${counted(maximum, unit)}`,
    'too-small': ({ minimum }) => `deve ser no mínimo ${minimum}`,
    'too-large': ({ maximum }) => `deve ser no máximo ${maximum}`,
    'malformed-text': 'deve ser Unicode bem formado, sem o caractere NUL',
    'not-one-of': ({ values }) => `deve ser um destes valores: ${values.join(', ') || '(nenhum)'}`,
    taken: 'já está em uso: escolha outro valor',
    'not-storable': 'tem um valor que não pode ser armazenado',

    // The fields of the app.
    'outside-pattern': 'deve corresponder ao padrão deste campo',
    'not-a-date': 'deve ser um Date entre os anos 1 e 9999',
    'not-a-time': 'deve ser um horário ISO 8601, como 2026-01-31T12:00:00Z',
    'not-a-day': 'deve ser um dia, como 1815-12-10',
    'outside-years': 'deve estar entre os anos 1 e 9999',
    'not-json': 'deve ser um valor que o JSON possa representar',
    'json-null': 'não pode ser null',
    'json-too-deep': ({ maximum }) =>
      `deve ter no máximo ${maximum} ${plural(maximum, { one: 'nível', many: 'de níveis', other: 'níveis' })} de aninhamento`,
    'json-too-large': ({ maximum }) => `deve ter no máximo ${maximum} KiB como JSON`,
    'json-proto': 'não pode ter uma chave __proto__',

    // Bodies and forms.
    'sent-twice': 'aparece mais de uma vez',
    'not-single': 'deve ser um único valor',
    'not-checkboxes': 'deve indicar caixas de seleção deste formulário',
    'not-exactly-one': ({ values }) => `deve ter exatamente um destes campos: ${values.join(', ')}`,
    'not-code-or-token': 'deve estar presente se não houver um token, e somente nesse caso',
    'only-together': ({ field }) => `só pode aparecer junto com ${field}`,
    'not-in-future': 'deve ser um horário no futuro, antes do ano 10000',
    'not-confirmed': 'deve ser o que a página pede',
    'other-account': 'é de outra conta',

    // Emails and usernames.
    'invalid-email': 'deve ser um endereço de e-mail como ada@example.com',
    'internationalized-email':
      'é um endereço internacionalizado, com caracteres fora do ASCII antes do @, o que não é aceito: use um endereço em ASCII',
    'same-email': 'é o e-mail que a conta já tem',
    'email-not-accepted': 'não é aceito: em vez disso, as contas têm um nome de usuário',
    'invalid-username':
      'deve ter de 3 a 30 caracteres: letras de “a” a “z”, dígitos, sublinhados, pontos e hifens',
    'username-not-allowed': ({ maximum }) =>
      `deve ser um nome que este app permite: no máximo ${counted(maximum, 'characters')}, sem @ e sem espaços no início ou no fim`,
    'username-not-accepted': 'não é aceito: os nomes de usuário não estão ativados',
    'enter-identifier': 'está faltando: digite um e-mail, um nome de usuário ou ambos',
    'user-without-identifier': 'está faltando: um usuário precisa de um e-mail ou de um nome de usuário',
    'pass-identifier': 'está faltando: passe um e-mail ou um nome de usuário',

    // Passwords.
    'password-too-common': 'é uma das senhas mais comuns; escolha outra',
    'password-of-app-words': 'usa palavras que são fáceis de adivinhar aqui; escolha outra',
    'password-breached': 'apareceu em um vazamento de dados; escolha outra',
    'password-is-email': 'não pode ser seu e-mail',
    'password-is-username': 'não pode ser seu nome de usuário',
    'same-password': 'deve ser diferente da senha atual',
    'invalid-password': ({ maximum }) =>
      `deve ter de 1 a ${counted(maximum, 'characters')} em Unicode bem formado, sem NUL`,

    // Passkeys, API keys, organizations, roles and the administration.
    'invalid-name': ({ maximum }) => `deve ter de 1 a ${maximum} caracteres visíveis`,
    'invalid-slug':
      'deve ter de 2 a 63 letras minúsculas, dígitos e hifens isolados, começar e terminar com uma letra ou um dígito e não parecer um id',
    'invalid-scopes': ({ maximum }) =>
      `deve ter no máximo ${maximum} ${plural(maximum, { one: 'palavra', many: 'de palavras', other: 'palavras' })} de caracteres ASCII visíveis, sem aspas nem barras invertidas`,
    'invalid-rights': 'deve ser some ou all',
    'not-roles': 'deve ser uma lista de funções',
    'too-many-roles': ({ maximum }) => `deve conter no máximo ${rolesOf(maximum)}`,
    'invalid-reason': ({ maximum }) => `deve ter de 1 a ${maximum} caracteres visíveis`,
    'reason-too-long': ({ maximum }) =>
      `deve ter no máximo ${counted(maximum, 'characters')} em Unicode bem formado, sem NUL`,

    // The details of problems, which are whole sentences.
    'totp-locked':
      'Depois de códigos incorretos demais, os códigos do app autenticador não são mais aceitos. Use um código de recuperação ou uma chave de acesso, ou fale com os responsáveis por este serviço.',
    'totp-not-started':
      'Não há um app autenticador para confirmar. Se a configuração demorou mais de 10 minutos, comece-a novamente.',
    'no-passkey-yet': 'Você não tem uma chave de acesso. Primeiro, adicione uma.',
    'unknown-browser':
      'Este navegador é novo para sua conta. Faça login novamente: você receberá um e-mail com um código que confirma que é você.',
    'no-authentication-time':
      'Este provedor não informa quando você fez login nele. Confirme sua senha, use um provedor OpenID Connect que informe isso ou faça login novamente.',
    'provider-without-fields': ({ fields }) =>
      `O provedor não retornou os campos obrigatórios: ${fields.join(', ')}.`,
    'wrong-former-password': 'Senha incorreta. Digite a senha que a conta tinha antes desta alteração.',
    'undo-without-email':
      'Outra conta tem o endereço de e-mail de antes desta alteração, então desfazê-la deixaria sua conta sem uma forma de fazer login. Fale com o suporte.',
    'no-such-session-of-user': 'Este usuário não tem esta sessão. Talvez ela já tenha terminado.',
    'role-for-unproven-email':
      'Ninguém comprovou que o e-mail deste usuário pertence a ele, então o usuário pode ser outra pessoa. Primeiro, peça ao usuário que confirme o e-mail.',
    'account-incomplete': 'A conta está incompleta. Consulte o log para ver a correção.',
    'schema-outdated':
      'O esquema do banco de dados não corresponde a esta versão. Consulte o log para ver a correção.',
  },
};
