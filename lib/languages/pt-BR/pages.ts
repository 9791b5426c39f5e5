import { type Html, html } from '../../html.js';
import type { PageWords } from '../../words/pages/index.js';
import { pluralsIn } from '../../words/plural.js';

const plural = pluralsIn('pt-BR');

/** Returns a number of days in words. */
function daysOf(count: number): string {
  return `${count} ${plural(count, { one: 'dia', many: 'de dias', other: 'dias' })}`;
}

/** Returns a number of passkeys in words. */
function passkeysOf(count: number): string {
  const words = { one: 'chave de acesso', many: 'de chaves de acesso', other: 'chaves de acesso' };
  return `${count} ${plural(count, words)}`;
}

/** Returns a number of browsers in words. */
function browsersOf(count: number): string {
  return `${count} ${plural(count, { one: 'navegador', many: 'de navegadores', other: 'navegadores' })}`;
}

/** The sentence about a password that the user cannot sign in with yet. */
function unusable(hasPassword: boolean, missing: string): string {
  return hasPassword
    ? `Ainda não é possível fazer login com sua senha. Primeiro, adicione ${missing} no seu perfil.`
    : `Sua conta não tem senha. Para definir uma, primeiro adicione ${missing} no seu perfil.`;
}

/** The error of a request that a page does not send, unless someone has changed it. */
const unexpected = 'Isso não funcionou. Recarregue a página e tente novamente.';

/** What every page says of an emailed code that is used up. */
const codeOver =
  'Este código não funciona mais: ele expirou, já foi usado, ou um código incorreto foi digitado vezes demais. Receba outro código por e-mail.';

/** What it says of the code of an authenticator app. It does not say which it is, because that is a hint for attackers. */
const wrongTotp = 'Este código está incorreto ou já foi usado. Verifique o código ou aguarde o próximo.';

/** What it says besides, where a sign-in before the email is confirmed is rejected in the same way. */
const unconfirmed =
  ', ou o e-mail ainda não foi confirmado. Se você acabou de criar a conta, abra o link que enviamos por e-mail.';

/** What is said of an empty password where only that of one account proves who it is. */
const ownPassword = 'Digite a senha desta conta.';

const wrongSlug =
  'Digite de 2 a 63 letras minúsculas, números e hifens isolados, com uma letra ou um número no início e no fim.';

const unknownRole =
  'Escolha uma função desta lista. A lista pode ter mudado, então abra esta página novamente.';

/** The words of the pages in Brazilian Portuguese. */
export const pages: PageWords = {
  titleOf: (title: string, appName: string) => `${title} – ${appName}`,
  skip: 'Pular para o conteúdo',
  navigation: 'Conta',
  backTo: (appName: string) => `Voltar para ${appName}`,
  signedInAs: 'Você fez login como',
  terms: 'Termos',
  privacy: 'Privacidade',
  support: 'Suporte',
  optional: 'opcional',
  /** What stands between the names of a list. */
  comma: ', ',
  /** A value with its label. */
  labeled: (label: string, value: Html | string) => html`${label}: ${value}`,
  /** Turns the predicate of a field's error into a sentence, which stands below the label of the field. */
  sentenceOf: (predicate: string) => `${predicate.charAt(0).toUpperCase()}${predicate.slice(1)}.`,
  /** The words of a button, and what it is about. */
  actionOf: (action: string, about: string) => `${action} ${about}`,
  answerOf: (answer, about) => `${answer}: ${about}`,
  yes: 'Sim',
  no: 'Não',
  notSet: 'Não definido',
  choose: 'Escolha…',
  /** The hints about the range of a number. */
  range: {
    between: (minimum: number, maximum: number) => `De ${minimum} a ${maximum}.`,
    from: (minimum: number) => `No mínimo ${minimum}.`,
    to: (maximum: number) => `No máximo ${maximum}.`,
  },
  deviceOn: (browser: string, system: string) => `${browser} no ${system}`,
  /** A browser that is unknown. */
  browserOn: (system: string) => `Um navegador no ${system}`,
  inUtc: (label: string) => `${label} (UTC)`,
  lastUsed: 'usado por último',
  continue: 'Continuar',
  sendAgain: 'Enviar o e-mail novamente',
  sentAgain: (email: Html, isCertain: boolean) =>
    html`${isCertain ? html`Outro e-mail está a caminho de ${email}` : html`Se houver uma conta com ${email}, outro e-mail está a caminho`}. Se nenhum chegar, use o mais recente que você tem.`,
  /** What stands above the button that has to be pressed again, and on top of its page. */
  pressAgain: 'Nada foi feito ainda. Pressione o botão novamente.',
  confirmed: (button: Html) => html`Você confirmou que é você. Continue com “${button}”.`,
  or: 'ou',
  close: 'Fechar',
  cancel: 'Cancelar',
  /** What the button that closes a part says after "Fechar", for screen readers. */
  ofClose: (action: string) => `: ${action.charAt(0).toLowerCase()}${action.slice(1)}`,

  fields: {
    email: 'E-mail',
    username: 'Nome de usuário',
    either: 'E-mail ou nome de usuário',
    password: 'Senha',
    currentPassword: 'Senha atual',
    newPassword: 'Nova senha',
    newEmail: 'Novo e-mail',
    remember: 'Manter a conta conectada neste dispositivo',
    code: 'Código',
    recoveryCode: 'Código de recuperação',
    name: 'Nome',
    language: 'Idioma',
    /** The choice of the language that the browser asks for. */
    anyLanguage: 'O idioma do navegador',
    languageHint: 'O idioma destas páginas e dos nossos e-mails.',
  },
  confirmation: {
    label: (text: string) => `Para confirmar, digite ${text}`,
    /** What users without an email and a username type. */
    word: 'excluir',
  },
  /** The words for browsers that cannot be checked, because they run no scripts. */
  human: {
    noScript: 'Não é possível verificar este navegador, porque ele não executa scripts.',
    otherWays: (ways: string) => `Você ainda pode fazer login com ${ways}.`,
    turnOn: 'Ative o JavaScript e recarregue esta página.',
    password: 'sua senha',
    email: 'um código enviado para você por e-mail',
    list: (ways: readonly string[]) => new Intl.ListFormat('pt-BR', { type: 'disjunction' }).format(ways),
  },
  copy: 'Copiar',
  copied: 'Copiado',
  passwordHint: (length: number) =>
    `Pelo menos ${length} caracteres. Algumas palavras aleatórias são uma boa escolha.`,

  usernameHint: 'De 3 a 30 caracteres: letras de “a” a “z”, dígitos, sublinhados, pontos e hifens.',
  /** The hint of a password that has to be typed again, because something else in its form was wrong. */
  passwordAgain: 'Digite a senha novamente.',

  /** The words for the scripts, which read them from the head of the document. */
  scripts: {
    failed: 'Não foi possível enviar o formulário. Verifique a conexão e tente novamente.',
    broken: 'Algo deu errado. Tente novamente daqui a pouco.',
    unsaved: 'Ainda não foi salvo.',
    show: 'Mostrar',
    hide: 'Ocultar',
    /** What the two buttons say to screen readers. */
    showOf: 'Mostrar {field}',
    hideOf: 'Ocultar {field}',
    passkeys: {
      failed: 'Não foi possível usar a chave de acesso. Tente novamente.',
      offline: 'Isso não funcionou. Verifique a conexão e tente novamente.',
      NotAllowedError:
        'Nenhuma chave de acesso foi usada. A solicitação foi cancelada, demorou demais, ou este dispositivo não tem uma chave de acesso para este site.',
      InvalidStateError: 'Este dispositivo já tem uma chave de acesso para sua conta.',
      NotSupportedError:
        'Este dispositivo não pode usar chaves de acesso. Tente com um celular ou um gerenciador de senhas.',
      SecurityError: 'As chaves de acesso não funcionam neste endereço.',
      /** The words about signing in with a passkey that differ. The codes are those of the server's errors. */
      'sign-in': {
        invalid_passkey:
          'Esta chave de acesso não pertence mais a uma conta daqui, ou passou tempo demais. Tente novamente ou faça login de outra forma.',
      },
      /** The words about adding a passkey that differ. */
      create: {
        NotAllowedError:
          'Nenhuma chave de acesso foi adicionada. A solicitação foi cancelada ou demorou demais.',
      },
    },
  },

  names: {
    account: 'Perfil',
    'account/security': 'Segurança',
    'account/sessions': 'Sessões',
    'account/api-keys': 'Chaves de API',
    'account/organizations': 'Organizações',
    'administration/users': 'Usuários',
  },

  signIn: {
    title: 'Fazer login',
    titleOf: (appName: string) => `Fazer login em ${appName}`,
    submit: 'Fazer login',
    already: 'Você já fez login',
    byEmail: 'Receber código por e-mail',
    byEmailHint: 'Enviaremos por e-mail um código para você fazer login. Você não precisa de senha.',
    byPasskey: 'Fazer login com chave de acesso',
    continueWith: (provider: string) => `Continuar com ${provider}`,
    forgotten: 'Esqueceu sua senha?',
    restorable: (date: Html) =>
      html`Sua conta foi excluída. Até ${date}, o link do nosso e-mail pode restaurá-la.`,
    noAccount: 'Ainda não tem uma conta?',
    signUp: 'Criar uma conta',
  },
  signUp: {
    title: 'Criar uma conta',
    submit: 'Criar uma conta',
    byEmail: 'Prefiro um código por e-mail',
    byEmailHint: 'Com um código, você não precisa de senha.',
    byEmailAlone: 'Receber código por e-mail',
    either: (resets: boolean) =>
      `Digite um e-mail, um nome de usuário ou ambos.${resets ? ' Sem um e-mail, não é possível redefinir uma senha esquecida.' : ''}`,
    haveAccount: 'Já tem uma conta?',
    closed: 'Não é possível criar uma conta aqui. Peça uma conta aos responsáveis por este app.',
    closedAsk: 'Não é possível criar uma conta aqui. Para ter uma, peça por aqui:',
    checkMail: 'Confira seu e-mail',
    checkMailText: (address: Html | string) =>
      html`Enviamos um e-mail para ${address}. Se ainda não houver uma conta com esse endereço, abra o link do e-mail e depois faça login. Se já houver, o e-mail diz o que fazer. Confira também a pasta de spam.`,
    confirmText: (address: Html | string) =>
      html`Enviamos um link para ${address}. Abra o link e depois faça login. Confira também a pasta de spam.`,
  },
  signOut: {
    title: 'Sair',
    question: (account: string | null) =>
      account === null ? 'Quer sair da conta?' : `Você fez login como ${account}.`,
    submit: 'Sair',
    stay: 'Continuar na conta',
  },
  passkeyOffer: {
    title: 'Faça login sem senha da próxima vez',
    text: 'Crie uma chave de acesso. Depois, você só precisa do bloqueio de tela deste dispositivo para fazer login.',
    create: 'Criar uma chave de acesso',
    later: 'Agora não',
  },
  secondFactor: {
    title: 'Confirme que é você',
    account: (account: string) => `Você está fazendo login como ${account}.`,
    totp: 'Digite o código que seu app autenticador mostra.',
    emailCode: (email: Html, digits: number) =>
      html`Enviamos um código de ${digits} dígitos para ${email}, porque este navegador é novo para sua conta. Confira também a pasta de spam.`,
    verifyCode: (email: Html, digits: number) =>
      html`Enviamos um código de ${digits} dígitos para ${email}. Digite o código para confirmar que o e-mail é seu. Confira também a pasta de spam.`,
    passkey: (wasPassword: boolean) =>
      wasPassword
        ? 'Sua senha estava correta. Agora use sua chave de acesso.'
        : 'Mais uma etapa: use sua chave de acesso.',
    recoveryHint:
      'Um dos códigos que você salvou quando ativou a autenticação de dois fatores. Cada código funciona uma vez.',
    submit: 'Continuar',
    trust: (days: number) => `Não perguntar novamente neste navegador por ${daysOf(days)}`,
    useRecovery: 'Usar um código de recuperação',
    submitRecovery: 'Usar o código de recuperação',
    usePasskey: 'Usar uma chave de acesso',
    wrongAddress: {
      question: 'E-mail errado?',
      signUpAgain: 'Crie a conta novamente com o e-mail certo',
      orSupport: (link: Html) => html` ou fale com o suporte: ${link}`,
      support: (link: Html) => html`Fale com o suporte: ${link}`,
    },
    lost: (support: Html | null, appName: string) =>
      support === null
        ? `Se você perdeu seu celular e seus códigos de recuperação, peça ajuda aos responsáveis por ${appName}.`
        : html`Se você perdeu seu celular e seus códigos de recuperação, peça ajuda: ${support}`,
    expires: 'Você tem 10 minutos. Depois disso, faça login novamente.',
    expired: 'Não há um login para confirmar. Ele pode ter expirado. Faça login novamente.',
    cancel: 'Fazer login com outra conta',
  },
  reauthenticate: {
    title: 'Confirme que é você',
    lead: 'Para sua segurança, confirme que é você antes de continuar.',
    leadTo: (what: string) => `Para ${what}, confirme que é você.`,
    /** What the forms do that need a recent sign-in, by their pages and names. */
    actions: {
      'account/profile': 'salvar seu perfil',
      'account/username': 'alterar seu nome de usuário',
      'account/email': 'alterar seu e-mail',
      'account/download': 'baixar seus dados',
      'account/delete': 'excluir sua conta',
      'account/api-keys/create': 'criar uma chave de API',
      'account/organizations/organization/set-role': 'alterar a função deste membro',
      'account/organizations/organization/remove': 'remover este membro',
      'account/organizations/organization/invite': 'convidar alguém',
      'account/organizations/organization/delete': 'excluir esta organização',
      'account/security/change-password': 'alterar sua senha',
      'account/security/set-password': 'definir uma senha',
      'account/security/remove-password': 'remover sua senha',
      'account/security/set-up-app': 'configurar um app autenticador',
      'account/security/disable-app': 'remover o app autenticador',
      'account/security/renew-codes': 'obter novos códigos de recuperação',
      'account/security/use-passkeys': 'alterar sua segunda etapa',
      'account/security/remove-passkey': 'remover esta chave de acesso',
      'account/security/unlink': 'desvincular esta conta',
      'account/security/forget-browser': 'esquecer este navegador',
      'account/security/start-over': 'recomeçar com outro e-mail',
      'account/security/second-factor/confirm-app': 'ativar a autenticação de dois fatores',
      'administration/users/create': 'criar um usuário',
      'administration/users/user/edit': 'alterar este usuário',
      'administration/users/user/delete': 'excluir este usuário',
      'administration/users/user/roles': 'alterar as funções deste usuário',
      'administration/users/user/suspend': 'suspender este usuário',
      'administration/users/user/reinstate': 'encerrar a suspensão',
    },
    emailCode: (email: Html) => html`Enviaremos um código para ${email}.`,
    send: 'Receber código por e-mail',
    sendAgain: 'Receber outro código por e-mail',
    sent: (email: Html, digits: number, time: string) =>
      html`Enviamos um código de ${digits} dígitos para ${email}. O código vale por ${time}. Confira também a pasta de spam.`,
    none: 'Esta página não pode confirmar que é você. Saia da conta e faça login novamente.',
    submit: 'Confirmar',
    cancel: 'Cancelar',
  },
  forgotPassword: {
    title: 'Redefinir sua senha',
    lead: 'Digite o e-mail da sua conta. Enviaremos por e-mail um link para você escolher uma nova senha.',
    submit: 'Receber link por e-mail',
    codeLead:
      'Digite o e-mail da sua conta. Enviaremos por e-mail um código para você escolher uma nova senha.',
    codeSubmit: 'Receber código por e-mail',
    sent: 'Confira seu e-mail',
    sentText: (address: Html | string) =>
      html`Se houver uma conta com ${address}, um e-mail com um link está a caminho. O link expira após uma hora. Confira também a pasta de spam.`,
    anyAddress: 'este endereço',
    again: 'Receber outro link por e-mail',
    back: 'Voltar ao login',
  },
  resetPassword: {
    title: 'Escolha uma nova senha',
    invitationTitle: 'Aceite seu convite',
    lead: (account: Html) => html`Escolha uma senha para ${account}.`,
    ends: 'Uma nova senha encerra todas as sessões da conta.',
    submit: 'Salvar a senha',
    invitationSubmit: 'Criar a senha',
    invalid: 'Este link não é mais válido',
    invalidText: 'Ele já foi usado ou expirou. Se você já escolheu uma nova senha, faça login com ela.',
    invitationInvalidText:
      'Ele já foi usado ou expirou. Se você já criou sua senha, faça login com ela. Caso contrário, peça outro link a quem convidou você.',
    again: 'Receber novo link por e-mail',
    codeLead: 'Se houver uma conta com seu e-mail, enviamos um código para você. Digite-o aqui.',
    codeSentTo: (email: Html, digits: number, time: string) =>
      html`Se houver uma conta com ${email}, enviamos um código de ${digits} dígitos para esse endereço. O código vale por ${time}. Confira também a pasta de spam.`,
    codeAgain: 'Receber outro código por e-mail',
    codeOther: 'Usar outro e-mail',
    codeFirst: 'Primeiro, peça um código',
    codeFirstText:
      'Digite o e-mail da sua conta, e enviaremos por e-mail um código para você escolher uma nova senha.',
  },
  join: {
    title: (organization: string) => `Participar de ${organization}`,
    lead: (organization: string) => `Você recebeu um convite para participar de ${organization}.`,
    leadBy: (inviter: Html, organization: string) =>
      html`${inviter} convida você para participar de ${organization}.`,
    email: 'E-mail convidado',
    role: 'Sua função',
    expires: 'Válido até',
    submit: (organization: string) => `Participar de ${organization}`,
    task: 'Falta mais uma etapa antes que você possa participar.',
    otherEmail: (email: Html, account: string | null) =>
      account === null
        ? html`O convite é para ${email}, que não é o e-mail da sua conta. Saia e continue com o e-mail convidado.`
        : html`O convite é para ${email}, mas você fez login como ${account}. Saia e continue com o e-mail convidado.`,
    signOut: 'Sair e continuar',
    signIn: (email: Html) =>
      html`${email} tem uma conta. Faça login nela, e você voltará para cá para participar.`,
    signInFirst: (email: Html) =>
      html`${email} ainda não tem uma conta. Continue para criar uma, e você voltará para cá para participar.`,
    createAccount: (email: Html) => html`${email} ainda não tem uma conta. Crie uma para participar.`,
    submitSignUp: (organization: string) => `Criar a conta e participar de ${organization}`,
    otherWay: 'Participar sem senha',
    afterwards: (organization: string) => `Depois disso, você poderá participar de ${organization}.`,
    joined: (organization: string) => `Agora você é membro de ${organization}.`,
    already: (organization: string) => `Você já é membro de ${organization}`,
    open: (organization: string) => `Ir para ${organization}`,
    signUpFirst: (email: Html) =>
      html`${email} ainda não tem uma conta. Crie uma com este e-mail e depois abra novamente o link do convite.`,
    closed: (email: Html) =>
      html`${email} ainda não tem uma conta, e não é possível criar uma aqui. Peça uma conta aos responsáveis por este app e depois abra novamente o link do e-mail.`,
    closedAsk: (email: Html) =>
      html`${email} ainda não tem uma conta, e não é possível criar uma aqui. Para ter uma, peça ajuda:`,
    nothing: 'Se você não quer participar, não precisa fazer nada.',
    invalid: 'Este convite não é mais válido',
    invalidText:
      'Ele já foi usado, foi substituído por um e-mail mais novo, foi revogado ou expirou. Abra o link do e-mail mais recente ou peça outro a quem convidou você.',
    withoutLink: 'Abra o link do e-mail',
    withoutLinkText: 'Para participar de uma organização, abra o link do e-mail que convida você.',
    organizations: 'Suas organizações',
  },
  verifyEmail: {
    title: 'Confirme seu e-mail',
    lead: (account: string) => `Confirme que ${account} é seu e-mail.`,
    password: 'Digite a senha desta conta para mostrar que ela é sua.',
    submit: 'Confirmar',
    invalid: 'Este link não é mais válido',
    invalidText: 'Ele já foi usado ou expirou. Se você já confirmou seu e-mail, basta fazer login.',
    invalidHere: 'Ele já foi usado ou expirou. Você pode receber um novo.',
    waiting: 'Primeiro, confirme seu e-mail',
    waitingText: (address: Html | string) =>
      html`Abra o link que enviamos para ${address} e depois faça login. Confira também a pasta de spam.`,
    waitingAgain: 'Para receber um novo link, faça login novamente.',
    perhapsSent:
      'Se enviamos um link por e-mail para você, abra-o e depois faça login. Para receber um novo link, faça login.',
    waitingHere: (address: Html | string) =>
      html`Abra o link que enviamos para ${address}. Confira também a pasta de spam.`,
    anyAddress: 'seu e-mail',
    done: 'Seu e-mail foi confirmado',
    doneFor: (email: string) => `${email} foi confirmado.`,
    doneText: (account: string) => `Você fez login como ${account}.`,
    send: 'Receber novo link por e-mail',
    codeFirst: (email: Html | string) =>
      html`Enviaremos um código para ${email}. Digite-o aqui para confirmar que o e-mail é seu.`,
    codeSentTo: (email: Html | string, digits: number, time: string) =>
      html`Enviamos um código de ${digits} dígitos para ${email}. O código vale por ${time}. Confira também a pasta de spam.`,
    codeSignUp: (email: Html | string, digits: number, time: string) =>
      html`Se ${email} ainda não tem uma conta, enviamos para esse endereço um código de ${digits} dígitos. O código vale por ${time}. Confira também a pasta de spam.`,
    codeSend: 'Receber código por e-mail',
    codeSendNew: 'Receber novo código por e-mail',
    codeSignIn: 'Faça login, e enviaremos por e-mail um código para confirmar seu e-mail.',
    later: 'Agora não',
  },
  changeEmail: {
    title: 'Confirme seu novo e-mail',
    lead: (email: string) => `Use ${email} como o e-mail da sua conta.`,
    account: (account: string) => `Seu e-mail atual é ${account}.`,
    elsewhere: 'Abra este link onde você fez login',
    elsewhereText:
      'Copie o link desta página e abra-o no navegador em que você fez login na conta. Lá, não é preciso digitar a senha.',
    password: 'Ou digite aqui a senha da conta, se ela tiver uma.',
    submit: 'Usar este e-mail',
    invalid: 'Este link não é mais válido',
    invalidText:
      'Ele já foi usado, expirou, foi cancelado, ou sua conta mudou desde então. Talvez um e-mail mais novo o tenha substituído: nesse caso, abra o link do mais recente. Se você já confirmou seu novo e-mail, basta fazer login com ele.',
    invalidHere: (email: string) =>
      `Ele já foi usado, expirou, foi cancelado, ou sua conta mudou desde então. Talvez um e-mail mais novo o tenha substituído: nesse caso, abra o link do mais recente. O e-mail da sua conta é ${email}.`,
    signsOut: 'Você sairá da conta em todos os dispositivos.',
    signsOutOthers: 'Você sairá da conta em todos os outros dispositivos.',
    done: 'Seu e-mail foi alterado',
    doneText: (email: string) => `Seu e-mail agora é ${email}.`,
    doneElsewhere: 'Suas sessões foram encerradas. Faça login com o novo e-mail.',
  },
  undoChange: {
    title: 'Desfazer uma alteração',
    what: (change: string) => `${change}.`,
    emailChanged: (from: string, to: string) => `O e-mail foi alterado de ${from} para ${to}.`,
    account: 'Conta',
    when: 'Quando',
    device: 'Dispositivo',
    unknownDevice: 'Um dispositivo desconhecido',
    lead: 'Se não foi você, desfaça a alteração. Isso também desfaz todas as alterações posteriores da conta e encerra todas as sessões.',
    removes: 'Sua senha será removida, e você escolherá uma nova por e-mail.',
    done: 'A alteração foi desfeita',
    choose: (email: Html) =>
      html`Escolha uma nova senha com o link que enviamos para ${email}. Confira também a pasta de spam.`,
    ended: 'Todas as sessões foram encerradas.',
    password: 'Sua senha de antes da alteração',
    passwordHint: '',
    code: 'Código do seu app autenticador ou um código de recuperação',
    codeHint: 'Use o app ou os códigos de recuperação que você tinha antes da alteração.',
    submit: 'Desfazer a alteração',
    withPasskey: 'Desfazer com sua chave de acesso',
    nothing: 'Se foi você, não precisa fazer nada.',
    otherBrowser: 'Abra este link em um navegador que sua conta conhece',
    otherBrowserText:
      'O link só funciona em um navegador que você já usava havia algum tempo. Copie o link desta página e abra-o lá.',
    tooNew: (since: Html) =>
      html`Este navegador era novo demais quando a alteração foi feita: sua conta só o conhece desde ${since}.`,
    worksIn: 'O link funciona em:',
    knownSince: (browser: string, since: Html) => html`${browser}, conhecido desde ${since}`,
    copyAddress: 'Copiar o link',
    help: (support: Html | string | null) =>
      support === null
        ? 'Se você não tem um navegador assim, peça ajuda aos responsáveis por este app.'
        : html`Se você não tem um navegador assim, peça ajuda: ${support}`,
    noBrowser: 'Este link não funciona em nenhum navegador',
    noBrowserText:
      'Quando a alteração foi feita, a conta não tinha sido usada por tempo suficiente em nenhum navegador. Por isso, só o suporte pode desfazer a alteração.',
    helpWithout: (support: Html | string | null) =>
      support === null ? 'Peça ajuda aos responsáveis por este app.' : html`Peça ajuda: ${support}`,
    changePassword: 'Alterar sua senha',
    invalid: 'Este link não é mais válido',
    invalidText: 'Ele já foi usado, expirou, ou a alteração já foi desfeita.',
    invalidHelp: (support: Html | string | null) =>
      support === null
        ? 'Se você não fez a alteração, peça ajuda aos responsáveis por este app.'
        : html`Se você não fez a alteração, peça ajuda: ${support}`,
    /** The words about a deleted account that differ. */
    deletion: {
      title: 'Restaurar sua conta',
      done: 'Sua conta foi restaurada',
      lead: 'Você pode restaurar a conta como ela era antes de ser excluída.',
      password: 'Sua senha',
      passwordHint: 'Ela mostra que a conta é sua.',
      codeHint: '',
      submit: 'Restaurar a conta',
      withPasskey: 'Restaurar com sua chave de acesso',
      nothing: 'Se a conta deve continuar excluída, não precisa fazer nada.',
    },
  },
  emailedSignIn: {
    title: 'Digite seu código',
    lead: 'Enviamos um código por e-mail para você. Digite-o aqui, no navegador em que você o pediu.',
    notAsked: 'Para fazer login com um código, peça um neste navegador. Depois, digite-o aqui.',
    sentTo: (email: Html, digits: number, time: string, isCertain: boolean) =>
      isCertain
        ? html`Enviamos um código de ${digits} dígitos para ${email}. O código vale por ${time}. Confira também a pasta de spam.`
        : html`Se houver uma conta com ${email}, um e-mail com um código de ${digits} dígitos está a caminho. O código vale por ${time}. Confira também a pasta de spam.`,
    submit: 'Fazer login',
    linkTitle: 'Fazer login',
    linkLead: (email: string) => `Continue para fazer login como ${email}.`,
    linkSubmit: 'Fazer login',
    usedTitle: 'Este link não é mais válido',
    used: 'Ele já foi usado ou expirou.',
    usedHere: (account: string) => `Ele já foi usado ou expirou. Você fez login como ${account}.`,
    elsewhereTitle: 'Você pediu este e-mail em outro navegador',
    elsewhere:
      'Volte para aquele navegador e digite lá o código do e-mail. Alguns apps abrem links em um navegador próprio.',
    here: (email: Html) => html`Ou faça login aqui: enviaremos um novo código para ${email}.`,
    hereSubmit: 'Prefiro fazer login aqui',
    notYou: 'Se você não pediu este e-mail, pode ignorá-lo.',
    createTitle: 'Crie sua conta',
    fields: (email: Html | string) =>
      html`${email} ainda não tem uma conta. Preencha estes dados para criar uma.`,
    thisEmail: 'Este e-mail',
    lostFields: (labels: readonly string[]) =>
      `Dados do cadastro que não foram mantidos: ${labels.join(', ')}. Se você criar uma conta, preencha-os depois no seu perfil.`,
    again: 'Receber outro código por e-mail',
    other: 'Usar outro e-mail',
  },

  security: {
    title: 'Segurança',
    change: 'Alterar',
    show: 'Mostrar',
    manage: 'Gerenciar',
    confirmEmail: {
      title: 'Confirme seu e-mail',
      text: (email: string) =>
        `Confirme que ${email} é seu e-mail. Depois disso, você pode ativar a autenticação de dois fatores e adicionar chaves de acesso.`,
      first: 'Primeiro, confirme seu e-mail.',
      wrong: 'O e-mail está errado?',
      change: 'Altere-o no seu perfil.',
      wrongAddress: 'O e-mail está errado? Saia e crie a conta novamente com o e-mail certo.',
      startOver: 'Sair e criar a conta novamente',
    },
    methods: {
      title: 'Métodos de login',
      passkeys: passkeysOf,
      email: 'código por e-mail',
      none: 'Você ainda não tem métodos de login.',
    },
    taskTitle: 'Mais uma etapa',
    taskText: 'Conclua esta etapa antes de continuar.',
    password: {
      change: 'Alterar a senha',
      set: 'Definir uma senha',
      isSet: 'Você tem uma senha.',
      none: 'Sua conta não tem senha.',
      /** What a password is good for, by what the account has in addition to it. */
      use: {
        email: 'Se você definir uma, também poderá fazer login com seu e-mail e essa senha.',
        username: 'Se você definir uma, também poderá fazer login com seu nome de usuário e essa senha.',
        either:
          'Se você definir uma, também poderá fazer login com seu e-mail ou nome de usuário e essa senha.',
      },
      /** What an account needs before a password is of use. */
      missing: {
        email: (hasPassword: boolean) => unusable(hasPassword, 'um e-mail'),
        username: (hasPassword: boolean) => unusable(hasPassword, 'um nome de usuário'),
        either: (hasPassword: boolean) => unusable(hasPassword, 'um e-mail ou um nome de usuário'),
      },
      add: {
        email: 'Adicionar um e-mail',
        username: 'Adicionar um nome de usuário',
        either: 'Adicionar um e-mail ou um nome de usuário',
      },
      remove: 'Remover a senha',
      removeText: 'Depois disso, você faz login com seus outros métodos de login.',
      confirmRemove: 'Sim, remover a senha',
      ends: 'Suas outras sessões são encerradas quando você altera a senha.',
      demanded: 'Escolha uma nova senha para continuar. Digite a atual uma última vez.',
    },
    secondFactor: {
      title: 'Autenticação de dois fatores',
      off: 'Se você a ativar, uma senha roubada não será suficiente para fazer login.',
      demanded: 'Configure um app autenticador ou adicione uma chave de acesso. Basta um dos dois.',
      on: (totp: boolean, passkeys: boolean) =>
        totp && passkeys
          ? 'Para fazer login, você precisa de um código do seu app autenticador ou de uma chave de acesso.'
          : totp
            ? 'Para fazer login, você precisa de um código do seu app autenticador.'
            : 'Para fazer login, você precisa de uma chave de acesso.',
      codesLeft: (count: number) =>
        count === 0
          ? 'Você não tem mais códigos de recuperação. Crie novos.'
          : `Você ainda tem ${count} ${plural(count, { one: 'código', many: 'de códigos', other: 'códigos' })} de recuperação.`,
      begin: 'Configurar um app autenticador',
      replace: 'Configurar outro app autenticador',
      again: 'Recomeçar com um novo QR code',
      setUp: 'Configure seu app autenticador',
      scanTitle: 'Adicione esta conta ao app',
      enterTitle: 'Digite o código',
      codesNext: 'Eles aparecem na próxima página, depois que você ativar a autenticação de dois fatores.',
      cancel: 'Cancelar',
      scan: 'Escaneie este código com seu app autenticador, como Google Authenticator, Microsoft Authenticator ou 1Password.',
      codeLabel: 'Código do app',
      qr: 'QR code para seu app autenticador',
      open: 'Abrir o app autenticador neste dispositivo',
      manual: 'Ou digite esta chave no app:',
      confirm: 'Ativar',
      codeHint: 'Os 6 dígitos que o app mostra. Você tem 10 minutos.',
      replaced:
        'Esta configuração foi recomeçada em outra aba. Escaneie o novo QR code e digite o código dele.',
      renew: 'Criar novos códigos de recuperação',
      renewText: 'Seus códigos de recuperação atuais não funcionarão mais.',
      confirmRenew: 'Sim, criar novos',
      disable: 'Remover o app autenticador',
      disableText:
        'Depois disso, você não precisa mais dos códigos dele para fazer login. Suas outras sessões serão encerradas.',
      disableLastText:
        'Isso desativa a autenticação de dois fatores e exclui seus códigos de recuperação. Suas outras sessões serão encerradas.',
      confirmDisable: 'Sim, remover',
      passkeysOn: 'Usar minhas chaves de acesso como segunda etapa',
      passkeysOff: 'Parar de usar chaves de acesso como segunda etapa',
      trusted: (count: number) => `Em ${browsersOf(count)}, você faz login só com a senha.`,
      askAgain: 'Perguntar novamente em todos os navegadores',
      codes: 'Salve seus códigos de recuperação',
      codesText:
        'Se você perder seu celular ou suas chaves de acesso, faça login com um destes códigos. Cada código funciona uma vez.',
      codesOnce: 'Eles são mostrados somente agora, então salve-os em algum lugar que não seja seu celular.',
      fileName: 'codigos-de-recuperacao.txt',
      fileHeading: (appName: string, account: string | null) =>
        `Códigos de recuperação para ${appName}${account === null ? '' : ` (${account})`}`,
      download: 'Baixar',
      print: 'Imprimir',
      saved: 'Já salvei os códigos',
    },
    passkeys: {
      title: 'Chaves de acesso',
      text: 'Com uma chave de acesso, você faz login com o bloqueio de tela do seu dispositivo em vez de uma senha.',
      count: (count: number) => `${passkeysOf(count)}.`,
      add: 'Adicionar uma chave de acesso',
      change: 'Alterar',
      rename: 'Renomear',
      remove: 'Remover',
      removeText: 'Depois disso, você não poderá mais fazer login com esta chave de acesso.',
      confirmRemove: 'Sim, remover',
      synced: 'sincronizada',
      added: (time: Html) => html`Adicionada em ${time}.`,
      used: (time: Html) => html`Usada pela última vez em ${time}.`,
      neverUsed: 'Ainda não usada.',
      needsScript: 'As chaves de acesso precisam do JavaScript e de um navegador compatível com elas.',
    },
    linked: {
      title: 'Contas vinculadas',
      none: 'Nenhuma conta está vinculada.',
      since: (time: Html) => html`Vinculada em ${time}.`,
      unlink: 'Desvincular',
      unlinkText: (provider: string) => `Depois disso, você não poderá mais fazer login com ${provider}.`,
      confirmUnlink: 'Sim, desvincular',
      link: (provider: string) => `Vincular ${provider}`,
      only: (provider: string) => `${provider} é a única forma de fazer login na sua conta.`,
      /** What a user can add, so that the account can be unlinked. Empty if this cannot be done on the page. */
      addFirst: (added: readonly Html[]) =>
        added.length === 0
          ? 'Não é possível desvincular esta conta.'
          : html`Antes de desvincular esta conta, ${added.map((one, index) => html`${index > 0 && (index === added.length - 1 ? ' ou ' : ', ')}${one}`)}.`,
      added: {
        passkey: 'adicione uma chave de acesso',
        password: 'defina uma senha',
        email: 'adicione um e-mail',
        username: 'adicione um nome de usuário',
        either: 'adicione um e-mail ou um nome de usuário',
        account: 'vincule outra conta',
      },
    },
    changes: {
      title: 'Alterações recentes',
      text: 'As alterações dos últimos 30 dias.',
      mailed: 'Se você não fez alguma delas, use o link do e-mail sobre ela.',
      count: (count: number) =>
        `${count} ${plural(count, { one: 'alteração', many: 'de alterações', other: 'alterações' })} nos últimos 30 dias.`,
      none: 'Nada foi alterado nos últimos 30 dias.',
      undoable: 'pode ser desfeita',
      bySupport: 'só o suporte pode desfazer',
    },
    browsers: {
      title: 'Navegadores que você usou',
      mailed: 'Se alguém fizer login com outro navegador, você receberá um e-mail.',
      count: (count: number) => (count === 0 ? 'Nenhum ainda.' : `${browsersOf(count)}.`),
      text: 'Sua conta se lembra destes navegadores, mesmo depois que você sai da conta, até você alterar ou remover sua senha ou ativar a autenticação de dois fatores em outro navegador. Esqueça um navegador que você não usa mais. Para sair da conta nele, use Sessões.',
      current: 'este navegador',
      seen: (first: Html, last: Html) => html`Usado pela primeira vez em ${first} e pela última em ${last}.`,
      trusted: (until: Html) => html`Nele, a senha basta para fazer login até ${until}.`,
      forget: 'Esquecer',
      forgetText:
        'O próximo login nele contará como um login em um novo navegador. Se você tem uma sessão nele, ela continua.',
      confirmForget: 'Sim, esquecer',
    },
  },
  account: {
    title: 'Perfil',
    profile: 'Sobre você',
    save: 'Salvar seus dados',
    username: 'Nome de usuário',
    saveUsername: 'Salvar o nome de usuário',
    email: 'E-mail',
    noEmail: 'Esta conta não tem e-mail.',
    verified: 'confirmado',
    unverified: 'não confirmado',
    verify: (isByCode: boolean) => `Receber ${isByCode ? 'código' : 'link'} por e-mail para confirmar`,
    pending: (email: Html) => html`Aguardando você abrir o link enviado para ${email}.`,
    emailAgain: 'Enviar novamente',
    cancelEmail: 'Cancelar esta alteração',
    newEmailHint:
      'Enviaremos um link para o novo e-mail. Seu e-mail é alterado quando você abre o link e pressiona o botão que aparece lá. Depois disso, você sai da conta em todos os outros dispositivos.',
    changeEmail: 'Alterar o e-mail',
    firstEmail: 'Adicionar um e-mail',
    firstEmailHint: 'Enviaremos um link para este e-mail. Quando você o abrir, sua conta terá este e-mail.',
    data: 'Meus dados',
    dataText: 'Baixe um arquivo com tudo o que está armazenado sobre você.',
    download: 'Baixar meus dados',
    delete: 'Excluir minha conta',
    opensDeletion: 'Excluir',
    ofDeletion: 'minha conta',
    deleteNow:
      'A conta será excluída imediatamente, com tudo o que pertence a ela. Não é possível desfazer isso.',
    deleteLater: (days: number) =>
      `Todas as sessões serão encerradas imediatamente, e a conta não poderá mais ser usada. Após ${daysOf(days)}, ela será excluída permanentemente, com tudo o que pertence a ela.`,
    restore: 'Até lá, um link que enviaremos por e-mail para você pode restaurá-la.',
    restoreByApp: 'Até lá, só os responsáveis por este app podem restaurá-la.',
    confirmDelete: 'Sim, excluir',
  },
  proof: {
    lead: 'Para sua segurança, isso só é possível depois que você confirmar que é você.',
    first: 'Confirmar que é você',
  },
  sessions: {
    title: 'Sessões',
    lead: 'Você fez login nestes dispositivos. Se não reconhecer algum deles, encerre essa sessão aqui.',
    browsers: (link: Html) => html`Para os navegadores em que você saiu da conta, consulte ${link}.`,
    current: 'este dispositivo',
    unknownDevice: 'Um dispositivo desconhecido',
    acting: 'Alguém responsável por este app, para ver o app como você vê',
    ip: 'Endereço IP',
    active: 'Última atividade',
    created: 'Login',
    end: 'Sair',
    about: (device: string, created: Html) => html`(${device}, login em ${created})`,
    endOthers: 'Sair de todos os outros dispositivos',
    endAll: 'Sim, sair de todos os dispositivos',
    wantsEndAll: 'Sair de todos os dispositivos',
    endAllText: 'Você sairá da conta em todos os dispositivos, inclusive neste.',
  },
  keys: {
    title: 'Chaves de API',
    lead: 'Programas usam uma chave de API para agir em seu nome.',
    none: 'Você não tem chaves de API.',
    created: 'Criada em',
    used: 'Último uso',
    neverUsed: 'Nunca',
    expires: 'Expiração',
    inDays: (days: number) => `Em ${daysOf(days)}`,
    neverExpires: 'Nunca',
    expired: 'expirada',
    scopes: 'Permissões',
    noScopes: 'todas as suas permissões',
    revoke: 'Revogar',
    revokeText:
      'Os programas que usam esta chave deixarão de funcionar imediatamente. Não é possível restaurar uma chave revogada.',
    confirmRevoke: 'Sim, revogar',
    about: (name: string, start: string) => `a chave ${name}, ${start}`,
    make: 'Criar uma chave de API',
    nameHint: 'Para sua lista, como o nome do programa.',
    allRights: 'Se você não a limitar, esta chave poderá fazer tudo o que você pode fazer neste app.',
    someRights: 'Somente estas:',
    everything: 'Tudo o que você pode fazer neste app',
    everythingText:
      'Qualquer pessoa que tiver a chave poderá usar o app como se fosse você. Escolha isso somente para programas que precisam.',
    scopesHint:
      'Os nomes das permissões, separados por espaços ou vírgulas. A documentação deste app lista esses nomes.',
    submit: 'Criar a chave',
    made: (name: string) => `Sua nova chave: ${name}`,
    madeText: 'Copie a chave agora. Ela não será mostrada novamente.',
  },
  /** The roles of members that latchkey knows, by their names. */
  roles: {
    owner: 'Proprietário',
    admin: 'Administrador',
    member: 'Membro',
  },
  organizations: {
    title: 'Organizações',
    lead: 'Uma organização é um grupo de pessoas que compartilham dados neste app.',
    none: 'Você não é membro de nenhuma organização.',
    next: 'Organizações mais antigas',
    create: 'Criar uma organização',
    submitCreate: 'Criar',
    slug: 'Nome curto',
    ownSlug: 'Escolher o nome curto para endereços',
    newSlugHint:
      'Para endereços, como acme-2: letras minúsculas, números e hifens. Se ficar vazio, ele será criado a partir do nome.',
  },
  organization: {
    ownRole: 'Sua função',
    change: 'Alterar o nome',
    save: 'Salvar',
    slugHint:
      'Para endereços, como acme-2: letras minúsculas, números e hifens. Se você o alterar, links existentes para esta organização podem deixar de funcionar.',
    members: 'Membros',
    nextMembers: 'Membros mais antigos',
    you: 'você',
    since: (date: Html) => html`Membro desde ${date}`,
    changeMember: 'Alterar',
    role: 'Função',
    setRole: 'Alterar a função',
    of: (name: string) => `de ${name}`,
    remove: 'Remover',
    removeText: 'Este usuário perde imediatamente o acesso à organização.',
    confirmRemove: 'Sim, remover',
    invitations: 'Convites',
    nextInvitations: 'Convites mais antigos',
    expires: (time: Html) => html`Expira em ${time}`,
    revoke: 'Revogar',
    invitationOf: (email: string) => `o convite para ${email}`,
    revokeText: 'O link do e-mail deixará de funcionar.',
    confirmRevoke: 'Sim, revogar',
    invite: 'Convidar alguém',
    inviteHint:
      'Enviaremos por e-mail um link que só funciona para este endereço. Se você convidar este endereço novamente, o link anterior deixará de funcionar.',
    submitInvite: 'Convidar',
    leaveTitle: 'Deixar a organização',
    leaveText: 'Você perde imediatamente o acesso a ela.',
    lastOwner: 'Você é o único proprietário. Antes de deixar a organização, torne outro membro proprietário.',
    leave: 'Deixar',
    confirmLeave: 'Sim, deixar',
    deleteTitle: 'Excluir a organização',
    deleteText:
      'Ela é excluída imediatamente para todos os membros, com tudo o que pertence a ela. Não é possível desfazer isso.',
    delete: 'Excluir',
    confirmDelete: 'Sim, excluir',
  },
  changes: {
    'account-deleted': 'A conta foi excluída',
    'account-recovered': 'Uma alteração foi desfeita',
    'administrator-added': 'A conta passou a ser de administrador',
    'administrator-acted': 'Alguém responsável por este app abriu sua conta',
    'api-key-created': 'Uma chave de API foi criada',
    'data-exported': 'Os dados da conta foram baixados',
    'device-forgotten': 'Um navegador foi esquecido',
    'email-change-requested': 'Um novo e-mail foi solicitado',
    'email-changed': 'O e-mail foi alterado',
    'new-device': 'Um login em um novo navegador',
    'new-password-required': 'Uma nova senha foi exigida',
    'organization-owner-added': 'Um membro passou a ser proprietário de uma organização',
    'passkey-added': 'Uma chave de acesso foi adicionada',
    'passkey-removed': 'Uma chave de acesso foi removida',
    'password-changed': 'A senha foi alterada',
    'password-removed': 'A senha foi removida',
    'password-set': 'Uma senha foi definida',
    'provider-linked': 'Uma conta foi vinculada',
    'provider-unlinked': 'Uma conta foi desvinculada',
    'recovery-code-used': 'Um código de recuperação foi usado',
    'recovery-codes-renewed': 'Novos códigos de recuperação foram criados',
    'second-factor-attempts': 'Códigos incorretos foram digitados',
    'second-factor-disabled': 'A autenticação de dois fatores foi desativada',
    'second-factor-enabled': 'A autenticação de dois fatores foi ativada',
    'username-changed': 'O nome de usuário foi alterado',
  },

  users: {
    title: 'Usuários',
    search: 'Pesquisar',
    searchHint: 'Parte de um e-mail ou de um nome de usuário. Nada mais é pesquisado.',
    submitSearch: 'Pesquisar',
    none: 'Nenhum usuário encontrado.',
    noneFor: (searched: string) => `Nenhum e-mail ou nome de usuário contém “${searched}”.`,
    noneYet: 'A pesquisa não encontrou usuários até agora.',
    continueSearch: 'Continuar a pesquisa',
    next: 'Próxima página',
    all: 'Mostrar todos os usuários',
    user: 'Usuário',
    state: 'Status',
    active: 'Ativo',
    created: 'Criado em',
    tags: {
      own: 'você',
      closed: 'Exclusão pendente',
      suspended: 'Suspenso',
      unverified: 'e-mail não confirmado',
    },
    create: 'Criar um usuário',
    submitCreate: 'Criar o usuário',
    invites: 'O usuário recebe um e-mail com um link para escolher uma senha.',
    either: (invites: boolean) =>
      `Um usuário precisa de um e-mail, um nome de usuário ou ambos.${invites ? ' Sem um e-mail, o usuário não pode escolher uma senha. Peça aos responsáveis pelo servidor que definam uma.' : ''}`,
  },
  user: {
    account: 'Conta',
    profile: 'Perfil',
    signIn: 'Login',
    verified: 'E-mail confirmado',
    created: 'Criado em',
    state: 'Status',
    active: 'Ativo',
    own: 'Esta é sua própria conta.',
    closedSince: (time: Html) => html`A exclusão foi solicitada em ${time}.`,
    restorableUntil: (time: Html) =>
      html`Até ${time}, a conta pode ser restaurada: com o link do e-mail sobre a exclusão, se houver um, ou com o comando <code>npx latchkey users restore</code>.`,
    suspendedSince: (time: Html, until: Html | null) =>
      until === null ? html`Suspenso desde ${time}.` : html`Suspenso desde ${time}, até ${until}.`,
    reason: 'Motivo',
    reasonHint: 'Uma nota para os administradores. O usuário não a vê.',
    until: 'Até',
    untilHint: 'Se você deixar este campo vazio, a suspensão dura até você encerrá-la.',
    emailedCode: 'Login por e-mail',
    secondFactor: 'Autenticação de dois fatores',
    on: 'Ativada',
    off: 'Desativada',
    totp: 'App autenticador',
    recoveryCodes: 'Códigos de recuperação restantes',
    passkeys: 'Chaves de acesso',
    providers: 'Contas vinculadas',
    none: 'Não há',
    edit: 'Editar',
    save: 'Salvar',
    actions: 'Ações',
    roles: 'Funções',
    rolesText: 'O que o usuário pode fazer.',
    changeRoles: 'Alterar',
    ofRoles: 'as funções',
    saveRoles: 'Salvar',
    fixedRoles: 'Algumas funções permitem mais do que você pode fazer, então não é possível alterá-las.',
    acting: 'Agir como este usuário',
    act: 'Agir',
    ofActing: 'como este usuário',
    confirmAct: 'Sim, agir',
    actText:
      'Você vê o app como o usuário vê e não pode alterar nada. Você sai da sua própria conta, e o usuário é avisado.',
    actingSession: 'Um administrador que age como o usuário',
    suspension: 'Suspensão',
    suspend: 'Suspender',
    ofSuspension: 'o usuário',
    confirmSuspend: 'Sim, suspender',
    suspendText:
      'Todas as sessões do usuário serão encerradas. Depois disso, o usuário não poderá mais fazer login.',
    reinstate: 'Encerrar a suspensão',
    reinstateText: 'Se você a encerrar, o usuário poderá fazer login novamente.',
    passwordLink: 'Nova senha por e-mail',
    sendPasswordReset: 'Enviar um link para uma nova senha',
    sendPasswordResetText: 'O usuário recebe um e-mail. A senha atual funciona até o link ser usado.',
    sendFirstPassword: 'Enviar um link para escolher uma senha',
    sendFirstPasswordText: 'O usuário não tem senha e recebe um e-mail com um link para escolher uma.',
    newPassword: 'Nova senha no próximo login',
    requireNewPassword: 'Exigir',
    ofNewPassword: 'uma nova senha',
    confirmRequireNewPassword: 'Sim, exigir',
    requireNewPasswordText:
      'Todas as sessões do usuário serão encerradas, e o usuário terá que substituir a senha atual.',
    disableSecondFactor: 'Desativar',
    ofSecondFactor: 'a autenticação de dois fatores',
    confirmDisableSecondFactor: 'Sim, desativar',
    disableSecondFactorText:
      'Para um usuário que perdeu o app autenticador, as chaves de acesso e os códigos de recuperação. Todas as sessões do usuário serão encerradas.',
    deletion: 'Exclusão',
    delete: 'Excluir',
    ofDeletion: 'o usuário',
    confirmDelete: 'Sim, excluir',
    deleteText: 'O usuário será excluído com tudo o que pertence à conta. Não é possível desfazer isso.',
    closeText: (days: number) =>
      `Depois disso, a conta não poderá ser usada. Após ${daysOf(days)}, ela será excluída permanentemente. Até lá, ela pode ser restaurada com o comando npx latchkey users restore.`,
    sessions: 'Sessões',
    noSessions: 'O usuário não tem nenhuma sessão.',
    unknownDevice: 'Dispositivo desconhecido',
    signedIn: (time: Html) => html`login em ${time}`,
    lastActive: (time: Html) => html`última atividade: ${time}`,
    endSession: 'Encerrar',
    endSessions: 'Encerrar todas as sessões',
    endSessionsText: 'O usuário sairá da conta em todos os dispositivos.',
    confirmEndSessions: 'Sim, encerrar todas',
    events: 'Eventos recentes',
    noEvents: 'Não há eventos.',
    eventNames: {
      'account.linked': 'Uma conta foi vinculada',
      'account.recovered': 'Uma alteração foi desfeita',
      'account.unlinked': 'Uma conta foi desvinculada',
      'admin.acting_started': 'Um administrador começou a agir como o usuário',
      'admin.password_reset_sent': 'Um administrador enviou um link para uma nova senha',
      'admin.session_revoked': 'Um administrador encerrou uma sessão',
      'admin.sessions_revoked': 'Um administrador encerrou todas as sessões',
      'admin.user_created': 'Um administrador criou a conta',
      'admin.user_deleted': 'Um administrador excluiu a conta',
      'admin.user_updated': 'Um administrador alterou a conta',
      'api_key.created': 'Uma chave de API foi criada',
      'api_key.revoked': 'Uma chave de API foi revogada',
      'device.trusted': 'Um navegador foi marcado como confiável',
      'organization.created': 'Uma organização foi criada',
      'organization.deleted': 'Uma organização foi excluída',
      'organization.invitation_created': 'Um convite para uma organização foi criado',
      'organization.invitation_revoked': 'Um convite para uma organização foi revogado',
      'organization.member_added': 'O usuário passou a ser membro de uma organização',
      'organization.member_removed': 'O usuário não é mais membro de uma organização',
      'organization.member_role_changed': 'A função em uma organização foi alterada',
      'organization.updated': 'Uma organização foi alterada',
      'passkey.added': 'Uma chave de acesso foi adicionada',
      'passkey.removed': 'Uma chave de acesso foi removida',
      'password.changed': 'A senha foi alterada',
      'password.new_required': 'Uma nova senha foi exigida',
      'password.removed': 'A senha foi removida',
      'password.reset': 'A senha foi substituída com um link enviado por e-mail',
      'rate_limit.refused': 'Solicitações foram rejeitadas, porque eram muitas',
      'mail.held': 'E-mails para endereços não confirmados estão aguardando, porque eram muitos',
      'recovery_code.used': 'Um código de recuperação foi usado',
      'second_factor.disabled': 'A autenticação de dois fatores foi desativada',
      'second_factor.enabled': 'A autenticação de dois fatores foi ativada',
      'session.created': 'O usuário fez login',
      'session.reauthenticated': 'O usuário confirmou sua identidade',
      'session.revoked': 'Uma sessão foi encerrada',
      'sign_in.failed': 'Um login falhou',
      'sign_in.throttled': 'Os logins foram pausados após muitas tentativas incorretas',
      'tokens.read': 'Os tokens de uma conta vinculada foram lidos',
      'tokens.refreshed': 'Os tokens de uma conta vinculada foram renovados',
      'user.created': 'A conta foi criada',
      'user.deleted': 'A conta foi excluída',
      'user.deletion_requested': 'A exclusão da conta foi solicitada',
      'user.email_changed': 'O e-mail foi alterado',
      'user.email_verified': 'O e-mail foi confirmado',
      'user.exported': 'Os dados da conta foram baixados',
      'user.reinstated': 'A suspensão foi encerrada',
      'user.restored': 'A conta foi restaurada',
      'user.roles_changed': 'As funções foram alteradas',
      'user.suspended': 'O usuário foi suspenso',
      'user.updated': 'O perfil foi alterado',
    },
  },

  refusal: {
    back: (appName: string) => `Voltar para ${appName}`,
    notSaved: 'O que você digitou não foi salvo.',
    signedInAs: (account: string) => `Você fez login como ${account}.`,
    other: 'Fazer login com outra conta',
    stopActing: 'Parar de agir como este usuário',
    /** The titles of some errors, by their codes. */
    titlesOf: {
      acting_session: 'Isso não está disponível para você agora',
      admin_required: 'Você não tem acesso',
    },
    /** The titles of the other errors, by their statuses. */
    titles: {
      400: 'Este endereço não é válido',
      401: 'Sua sessão foi encerrada',
      403: 'Isso não é possível',
      404: 'Página não encontrada',
      405: 'Isso não é possível',
      413: 'A solicitação é grande demais',
      429: 'Tentativas demais',
      503: 'Tente novamente em breve',
    },
    wait: (words: string) => `Tente novamente em ${words}.`,
  },
  /** What a page says to a user who was led there from another page. */
  needed: {
    'second-factor-needed':
      'A página que você abriu precisa da autenticação de dois fatores. Configure-a para continuar.',
    'password-dropped':
      'Removemos a senha desta conta, porque ela foi definida antes de você confirmar seu e-mail. Você pode definir uma nova nesta página.',
    'recovery-code-used':
      'Você fez login com um código de recuperação, que não funciona mais. Se você perdeu seu celular, configure um app autenticador em outro. Esta página também diz quantos códigos de recuperação você ainda tem.',
    'session-over': 'Sua sessão foi encerrada. Faça login novamente.',
    'set-up-expired': 'Isso demorou demais ou já foi concluído. Configure seu app autenticador novamente.',
  },
  /** What a user is told whose sign-in has created an account. */
  created: {
    welcome: (account: string | null) =>
      account === null
        ? 'Boas-vindas. Criamos uma nova conta.'
        : `Boas-vindas. Criamos uma nova conta para ${account}.`,
    hint: (signOut: Html) =>
      html`Se você esperava uma conta existente, ${signOut} e faça login com outro e-mail.`,
    signOut: 'saia da conta',
  },
  done: {
    'signed-out': 'Você saiu da conta.',
    'password-reset': 'Sua senha foi alterada. Faça login com ela.',
    'invitation-accepted': 'Sua conta está pronta. Faça login.',
    'signed-up': 'Sua conta foi criada. Faça login.',
    'signed-up-to-confirm':
      'Sua conta foi criada. Faça login, e enviaremos por e-mail um código para confirmar seu e-mail.',
    'account-deleted': 'Sua conta foi excluída.',
    'signed-out-everywhere': 'Você saiu da conta em todos os dispositivos.',
    sent: 'O e-mail está a caminho.',
    'password-changed': 'Sua senha foi alterada. Você saiu da conta em todos os outros dispositivos.',
    'password-set': 'Sua conta agora tem uma senha.',
    'password-removed': 'Sua senha foi removida. Você saiu da conta em todos os outros dispositivos.',
    'second-factor-on':
      'A autenticação de dois fatores está ativada. Você saiu da conta em todos os outros dispositivos.',
    'second-factor-off': 'A autenticação de dois fatores está desativada.',
    'app-removed': 'O app autenticador foi removido.',
    'passkeys-off':
      'Suas chaves de acesso não são mais a segunda etapa. Você saiu da conta em todos os outros dispositivos.',
    'codes-renewed': 'Você tem novos códigos de recuperação. Os códigos anteriores não funcionam mais.',
    'passkey-added': 'A chave de acesso foi adicionada.',
    'passkey-removed': 'A chave de acesso foi removida. Remova-a do seu dispositivo também.',
    linked: 'A conta foi vinculada.',
    unlinked: 'A conta foi desvinculada.',
    'browser-forgotten': 'O navegador foi esquecido.',
    'browsers-not-trusted': 'De agora em diante, todo login pede novamente a segunda etapa.',
    saved: 'Suas alterações foram salvas.',
    'details-saved': 'Seus dados foram salvos.',
    'username-saved': 'Seu nome de usuário foi salvo.',
    'email-change-sent':
      'Um e-mail com um link está a caminho do novo endereço. Abra o link em até uma hora e pressione o botão que aparece lá. Confira também a pasta de spam.',
    'email-change-canceled': 'A alteração do seu e-mail foi cancelada. O link do e-mail não funciona mais.',
    'session-ended': 'A sessão foi encerrada.',
    'other-sessions-ended': 'Todas as outras sessões foram encerradas.',
    'api-key-revoked': 'A chave foi revogada.',
    'organization-created': 'A organização foi criada. Sua função nela é Proprietário.',
    'organization-saved': 'As alterações foram salvas.',
    'member-role-changed': 'A função foi alterada.',
    'member-removed': 'O membro foi removido.',
    'organization-left': 'Você não é mais membro desta organização.',
    'member-invited': 'O convite está a caminho por e-mail.',
    'organization-invitation-revoked': 'O convite foi revogado. O link dele não funciona mais.',
    'organization-deleted': 'A organização foi excluída.',
    'user-created': 'O usuário foi criado.',
    'user-invited': 'O usuário foi criado e recebe um e-mail com um link para escolher uma senha.',
    'user-changed': 'As alterações foram salvas.',
    'user-roles-changed': 'As funções foram alteradas.',
    'user-suspended': 'O usuário está suspenso.',
    'user-reinstated': 'A suspensão foi encerrada.',
    'user-closed': 'A conta não pode mais ser usada e será excluída permanentemente.',
    'user-deleted': 'O usuário foi excluído.',
    'new-password-required': 'O usuário precisa escolher uma nova senha.',
    'second-factor-disabled': 'A autenticação de dois fatores do usuário foi desativada.',
    'sessions-ended': 'Todas as sessões do usuário foram encerradas.',
  },

  errorTitle: (title: string) => `Erro: ${title}`,
  errorHeading: 'Há um problema',
  codeOver,

  /** What an error means to the user, by its code. */
  errors: {
    account_deleted:
      'Esta conta foi excluída. Por algum tempo, ela pode ser restaurada: com o link do e-mail sobre a exclusão, se houver um, ou pelos responsáveis por este app.',
    account_exists:
      'Você já tem uma conta com este e-mail. Faça login nela e depois vincule este serviço em Segurança.',
    account_in_use: 'A conta ainda não pode ser excluída, porque outros dados dependem dela.',
    account_linked_elsewhere:
      'Esta conta já é usada para fazer login em outra conta aqui. Faça login com ela ou use outra.',
    account_not_linked: 'Esta conta não está vinculada. Talvez ela já tenha sido desvinculada.',
    account_suspended: 'Esta conta está suspensa. Fale com os responsáveis por este serviço.',
    access_denied:
      'Você cancelou o login no outro serviço. Você pode tentar novamente ou fazer login de outra forma.',
    acting_session: 'Você está agindo como este usuário, então só pode ver páginas do app.',
    admin_required: 'Só administradores podem abrir esta página.',
    already_member: 'Este usuário já é membro.',
    ambiguous_credentials: unexpected,
    api_key_not_found: 'Esta chave não existe. Talvez ela já tenha sido revogada.',
    body_too_large: 'Você digitou mais do que este formulário aceita. Encurte o texto e tente novamente.',
    body_too_slow: 'A conexão estava lenta demais. Tente novamente.',
    code_expired: 'Este código não funciona mais aqui. Peça outro.',
    device_not_found: 'Sua conta não conhece este navegador. Talvez ele já tenha sido removido.',
    email_code_not_offered:
      'Não é possível enviar um código por e-mail aqui. Escolha outra forma de confirmar que é você.',
    email_missing: 'Este usuário não tem um e-mail para receber um link.',
    email_not_verified: 'Primeiro, confirme seu e-mail.',
    email_taken: 'Outra conta tem este e-mail.',
    email_unproven: 'O e-mail deste usuário não está confirmado, então o usuário pode ser outra pessoa.',
    human_check_failed: 'Não foi possível confirmar que isso foi enviado por uma pessoa. Tente novamente.',
    'human_check_failed/no-script':
      'Não foi possível confirmar que isso foi enviado por uma pessoa. Ative o JavaScript, recarregue esta página e tente novamente.',
    insufficient_scope: unexpected,
    invitation_for_other_email:
      'Este convite é para outro e-mail. Saia da conta e depois abra novamente o link do e-mail.',
    invitation_not_found: 'Este convite não existe. Talvez ele já tenha sido aceito ou revogado.',
    invalid_api_key: unexpected,
    invalid_callback_url: unexpected,
    invalid_code: 'Este código está incorreto ou já foi usado. Verifique o código e tente novamente.',
    invalid_credentials: 'O e-mail ou a senha estão incorretos.',
    invalid_flow:
      'O login no outro serviço demorou demais ou foi iniciado em outro navegador. Tente novamente.',
    invalid_json: unexpected,
    invalid_passkey: 'A chave de acesso não foi aceita. Tente novamente.',
    invalid_request: unexpected,
    invalid_session: 'Sua sessão foi encerrada. Faça login novamente para continuar.',
    invalid_token: 'Este link não é mais válido: ele já foi usado ou expirou.',
    last_owner:
      'Uma organização precisa de um proprietário com uma conta ativa. Primeiro, torne outro membro proprietário ou exclua a organização.',
    last_sign_in_method: 'Esta é a única forma de fazer login na sua conta. Primeiro, adicione outra.',
    mail_refused: 'Este endereço não aceita e-mails. Verifique se há erros de digitação.',
    member_not_found: 'Este usuário não é membro. Talvez a participação já tenha terminado.',
    method_not_allowed: unexpected,
    new_password_required:
      'Esta conta precisa de uma nova senha. Abra o link que enviamos por e-mail para você.',
    no_passkey: 'Você ainda não tem uma chave de acesso. Primeiro, adicione uma.',
    organization_full: 'A organização já tem o máximo possível de membros.',
    organization_in_use: 'A organização ainda não pode ser excluída, porque outros dados dependem dela.',
    organization_not_found: 'Esta organização não existe ou você não é membro dela.',
    origin_not_allowed:
      'Este formulário foi enviado de outro site ou de um endereço que não é o habitual deste app. Abra o app no endereço habitual e tente novamente.',
    other_browser:
      'Você pediu este e-mail em outro navegador. Digite lá o código do e-mail. Se você não o pediu, ignore o e-mail.',
    own_account: 'Esta é sua própria conta. Peça a outro administrador que faça isso.',
    passkey_exists: 'Esta chave de acesso já está em uso. Use outro dispositivo ou faça login com ela.',
    passkey_not_found: 'Esta chave de acesso não existe. Talvez ela já tenha sido removida.',
    password_already_set: 'A conta já tem uma senha. Em vez disso, você pode alterá-la.',
    password_not_set: 'A conta não tem senha.',
    proof_required: 'São necessárias mais provas de que esta conta era sua antes da alteração.',
    provider_already_linked: 'Outra conta deste serviço já está vinculada. Primeiro, desvincule essa conta.',
    provider_error:
      'O outro serviço não respondeu como esperado. Tente novamente ou faça login de outra forma.',
    permission_required: 'Você não tem permissão para fazer isso. Fale com um administrador.',
    provider_not_found: 'Este serviço não está disponível. Faça login de outra forma.',
    provider_slow: 'O outro serviço está demorando mais que o normal. Tente novamente em alguns segundos.',
    rate_limited: 'Tentativas demais. Tente novamente mais tarde.',
    /** An email that is asked for once more: the one before still works. */
    'rate_limited/again':
      'Por enquanto, não podemos enviar este e-mail novamente. Use o mais recente que você tem.',
    reauthentication_required: 'Você fez login há algum tempo. Confirme que é você e depois tente novamente.',
    refresh_token_missing: 'Esta conta precisa ser vinculada novamente.',
    relink_required: 'Esta conta precisa ser vinculada novamente.',
    scope_required: unexpected,
    second_factor_demanded:
      'Sua conta precisa da autenticação de dois fatores. Primeiro, configure outro app autenticador ou outra chave de acesso.',
    second_factor_required:
      'Isso precisa da autenticação de dois fatores. Confirme que é você e depois tente novamente.',
    session_not_found: 'Esta sessão já terminou.',
    session_required: unexpected,
    sign_in_expired:
      'Isso expirou, já foi concluído, ou um código foi digitado errado vezes demais. Comece novamente.',
    sign_up_incomplete: 'O outro serviço não compartilhou tudo o que é necessário para uma conta.',
    sign_up_refused: 'Não é possível criar uma conta aqui. Peça uma conta aos responsáveis por este app.',
    target_is_administrator:
      'Este usuário é administrador, então isso não é possível aqui. Fale com os responsáveis por este app.',
    slug_taken: 'Outra organização tem este nome curto. Escolha outro.',
    task_required: 'Falta mais uma etapa antes que você possa fazer isso.',
    too_many_api_keys: 'Você já tem o máximo possível de chaves. Revogue uma de que não precisa mais.',
    too_many_invitations:
      'A organização já tem o máximo possível de convites. Revogue um ou aguarde até que um seja aceito.',
    too_many_organizations:
      'Você já é proprietário do máximo possível de organizações. Exclua uma ou torne outra pessoa proprietária de uma.',
    too_many_passkeys: 'Você já tem o máximo possível de chaves de acesso. Remova uma que não usa mais.',
    totp_not_enabled: 'A autenticação de dois fatores está desativada. Primeiro, ative-a.',
    unauthenticated: 'Sua sessão foi encerrada. Faça login novamente para continuar.',
    unavailable: 'Isso não é possível no momento.',
    unknown_passkey:
      'Nenhuma conta tem esta chave de acesso. Faça login de outra forma e exclua a chave de acesso do seu dispositivo.',
    unsupported_media_type: unexpected,
    user_not_found: 'Este usuário não existe.',
    username_taken: 'Este nome de usuário já está em uso. Escolha outro.',
    validation_failed: 'Verifique o que você digitou.',
  },

  /** What the errors of a sign-in at a provider mean, with its name. */
  errorsAt: {
    access_denied: (provider) =>
      `Você cancelou o login com ${provider}. Tente novamente ou faça login de outra forma.`,
    account_exists: (provider) =>
      `Você já tem uma conta com o e-mail da sua conta ${provider}. Faça login nela e depois vincule ${provider} em Segurança.`,
    invalid_flow: (provider) =>
      `O login com ${provider} demorou demais ou foi iniciado em outro navegador. Tente novamente.`,
    provider_error: (provider) =>
      `${provider} não respondeu como esperado. Tente novamente ou faça login de outra forma.`,
    provider_slow: (provider) =>
      `${provider} está demorando mais que o normal. Tente novamente em alguns segundos.`,
    sign_up_incomplete: (provider, page) =>
      `${provider} não compartilhou tudo o que é necessário para uma conta.${page === 'sign-up' ? ' Em vez disso, preencha o formulário.' : ''}`,
  },

  /** The sentence that the exact wait replaces. */
  later: 'Tente novamente mais tarde.',

  /**
   * What an error means on one page, by the page's name, or in one of its forms, by the page's name and the form's. With
   * a slash before it, it is the error of a field that is not missing, or with `required` and what users sign in with, of
   * one that is. After a code and a slash, it is for one kind of code or
   * identifier, for one field that the error stands beside, or where a sign-up conceals which emails have an account.
   */
  errorsOf: {
    account: { invalid_credentials: 'Esta não é sua senha atual.' },
    'account/delete': {
      last_owner:
        'Você é a única pessoa proprietária de uma organização que tem outros membros. Primeiro torne um deles proprietário ou exclua a organização. Nada foi excluído.',
    },
    'account/api-keys': { invalid_credentials: 'Esta não é sua senha atual.' },
    'account/api-keys/create': {
      '/expires_at': 'Escolha uma data depois de hoje.',
      '/name': 'Digite um nome de no máximo 100 caracteres.',
      '/scopes':
        'Digite os nomes de permissões que a documentação deste app lista, separados por espaços ou vírgulas.',
    },
    'account/organizations/create': {
      admin_required: 'Só administradores podem criar organizações.',
      email_not_verified: 'Primeiro, confirme seu e-mail. Depois, você pode criar uma organização.',
      '/name': 'Digite um nome de no máximo 100 caracteres.',
      '/slug': wrongSlug,
    },
    'account/organizations/organization': {
      invalid_credentials: 'Esta não é sua senha atual.',
      last_owner:
        'Esta organização ficaria sem um proprietário com conta ativa. Primeiro torne outro membro proprietário. Nada foi alterado.',
      permission_required: 'Sua função não permite isso. Fale com um proprietário da organização.',
    },
    'account/organizations/organization/invite': {
      permission_required: 'Sua função não permite que você convide alguém com esta função.',
      '/role': unknownRole,
    },
    'account/organizations/organization/remove/:userId': {
      permission_required: 'Sua função não permite que você remova este membro.',
    },
    'account/organizations/organization/rename': {
      '/name': 'Digite um nome de no máximo 100 caracteres.',
      '/slug': wrongSlug,
    },
    'account/organizations/organization/set-role/:userId': {
      permission_required: 'Sua função não permite que você dê ou retire esta função.',
      '/role': unknownRole,
    },
    'account/security': {
      access_denied: 'Você cancelou no outro serviço, então nenhuma conta foi vinculada.',
      email_not_verified:
        'Primeiro, confirme seu e-mail. Depois, você pode ativar a autenticação de dois fatores e adicionar chaves de acesso.',
      invalid_credentials: 'Esta não é sua senha atual.',
    },
    'account/security/second-factor/confirm-app': {
      invalid_code: 'Este não é o código que seu app mostra agora. Aguarde o próximo código e digite-o.',
    },
    'administration/users/create': {
      email_taken: 'Um usuário já tem este e-mail.',
      username_taken: 'Um usuário já tem este nome de usuário.',
      '/email/required/either': 'Digite um e-mail ou um nome de usuário.',
      '/email/required/username': 'Digite um e-mail ou um nome de usuário.',
    },
    'administration/users/user/roles': {
      permission_required: 'Uma função que você alterou permite mais do que você pode fazer.',
      '/roles': 'Escolha funções desta lista. A lista pode ter mudado, então abra esta página novamente.',
    },
    'administration/users/user/edit': { username_taken: 'Outro usuário tem este nome de usuário.' },
    'administration/users/user/suspend': { '/until': 'Escolha um horário no futuro.' },
    'change-email/confirm': {
      email_taken: 'Outra conta já tem este e-mail agora.',
      invalid_credentials: 'Esta não é a senha desta conta.',
      'unauthenticated/password': 'Digite a senha desta conta ou abra este link onde você fez login.',
    },
    join: {
      account_exists: 'Este e-mail tem uma conta. Faça login nela e depois participe.',
      invalid_token: 'Este convite já foi usado, substituído ou revogado, ou expirou.',
      sign_up_refused: 'Não é possível criar uma conta aqui. Peça uma aos responsáveis por este app.',
    },
    invitation: { invalid_token: 'Este convite já foi usado ou expirou.' },
    'reauthenticate/confirm': {
      'invalid_code/code': wrongTotp,
      invalid_credentials: 'Esta não é sua senha atual.',
      sign_in_expired: codeOver,
    },
    /** The page about a rejected request, whose title says what has happened. */
    refusal: {
      invalid_session: 'Faça login novamente para continuar.',
      unauthenticated: 'Faça login novamente para continuar.',
      invalid_request: '',
    },
    'reset-password/set': {
      '/code': 'Digite o código.',
      code_expired: codeOver,
      invalid_code:
        'Este código está incorreto. Verifique o código no e-mail mais recente e tente novamente.',
    },
    'second-factor/confirm': {
      'invalid_code/totp': wrongTotp,
      sign_in_expired:
        'Este login expirou, ou um código incorreto foi digitado vezes demais. Faça login novamente.',
      'sign_in_expired/email_code':
        'Este login expirou, ou um código incorreto foi digitado vezes demais. Faça login novamente para receber um novo código.',
      invalid_credentials:
        'Este código está incorreto ou já foi usado. Verifique o código e tente novamente.',
    },
    'sign-in/email/confirm': {
      '/code': 'Digite o código.',
      invalid_code:
        'Este código está incorreto. Verifique o código no e-mail mais recente e tente novamente.',
      sign_in_expired: codeOver,
    },
    'sign-in/password': {
      'invalid_credentials/either': 'O e-mail, o nome de usuário ou a senha estão incorretos.',
      'invalid_credentials/username': 'O nome de usuário ou a senha estão incorretos.',
      'invalid_credentials/email/concealed': `O e-mail ou a senha estão incorretos${unconfirmed}`,
      'invalid_credentials/either/concealed': `O e-mail, o nome de usuário ou a senha estão incorretos${unconfirmed}`,
    },
    'sign-in/send-code': {
      '/email': 'Para receber um código, digite seu e-mail, como ada@example.com.',
    },
    'sign-in': {
      invalid_passkey: 'A chave de acesso não foi aceita. Tente novamente ou faça login de outra forma.',
    },
    'sign-up': {
      sign_up_incomplete:
        'O outro serviço não compartilhou tudo o que é necessário para uma conta. Em vez disso, preencha o formulário.',
    },
    'sign-up/password': {
      email_taken: 'Você já tem uma conta com este e-mail.',
      '/email/required/either': 'Digite um e-mail, um nome de usuário ou ambos.',
    },
    'undo-change/confirm': {
      'invalid_code/code':
        'Este código está incorreto ou já foi usado. Aguarde o próximo código do app que você tinha antes da alteração.',
      'invalid_code/recovery_code':
        'Este código de recuperação está incorreto ou já foi usado. Digite um que você tinha antes da alteração.',
      invalid_credentials: 'Esta não era sua senha antes da alteração.',
      'invalid_code/account-deleted/code': wrongTotp,
      'invalid_code/account-deleted/recovery_code':
        'Este código de recuperação está incorreto ou já foi usado. Digite outro.',
      'invalid_credentials/account-deleted/password': 'Esta não é a senha desta conta.',
      'proof_required/account-deleted/password': ownPassword,
      'proof_required/code': 'Digite um código do seu app autenticador ou um código de recuperação.',
      'proof_required/password': 'Digite a senha que a conta tinha antes desta alteração.',
    },
    'verify-email/confirm': {
      invalid_code:
        'Este código está incorreto. Verifique o código no e-mail mais recente e tente novamente.',
      invalid_credentials: 'Esta não é a senha desta conta.',
      'unauthenticated/password': ownPassword,
    },
  },

  /** What to enter in a field that was left empty, by the field's name. After a slash, only if the app signs in by that. */
  missing: {
    code: 'Digite o código.',
    confirmation: 'Digite o texto para confirmar. Nada foi excluído.',
    credential: 'Digite seu e-mail ou nome de usuário.',
    'credential/email': 'Digite seu e-mail.',
    'credential/username': 'Digite seu nome de usuário.',
    email: 'Digite um e-mail.',
    email_code: 'Digite o código.',
    name: 'Digite um nome.',
    new_email: 'Digite seu novo e-mail.',
    slug: 'Digite um nome curto.',
    new_password: 'Digite uma nova senha.',
    password: 'Digite uma senha.',
    recovery_code: 'Digite um código de recuperação.',
    scopes: 'Escolha pelo menos uma permissão.',
    username: 'Digite um nome de usuário.',
  },

  /** What is wrong with a field of the app whose pattern does not allow the value. */
  wrongFormat: (label: string, hint: string | null) =>
    `Verifique o formato de “${label}”.${hint === null ? '' : ` ${hint}`}`,
  /** What is missing in a list of values. */
  notChosen: 'Escolha uma destas opções.',

  wholeLink: 'Se o link estiver incompleto, copie o link inteiro do e-mail.',
  otherAccount: (account: string) =>
    `Agora você fez login como ${account}, mas este formulário era de outra conta. Nada foi alterado.`,
  /** What is wrong with a field, by the code of its error. Other errors keep their own words. */
  fieldErrors: {
    not_confirmed: 'O texto não corresponde. Nada foi excluído.',
    invalid_email: 'Digite um e-mail como ada@example.com.',
    /** Instead of `invalid_email`, if there is a letter such as é before the @. */
    internationalized_email: 'Digite um e-mail sem acentos e outras letras especiais antes do @.',
    other_account: 'Enquanto isso, você fez login em outra conta. Nada foi alterado.',
    password_breached: 'Esta senha apareceu em um vazamento de dados. Escolha outra.',
    password_is_identifier: 'Escolha uma senha que não seja seu e-mail ou nome de usuário.',
    password_too_common: 'Esta senha é fácil de adivinhar. Escolha outra.',
    required: 'Preencha este campo.',
    same_email: 'Este já é seu e-mail.',
    same_password: 'Esta é sua senha atual. Escolha outra.',
    taken: 'Este valor já está em uso. Escolha outro.',
    unknown_key: 'Este campo não é esperado aqui. Recarregue a página e tente novamente.',
    wrong_type: 'Este valor não é possível aqui. Verifique o valor e tente novamente.',
    /** After a slash, only for the app's own fields of this type. */
    'wrong_type/integer': 'Digite um número inteiro, como 45.',
    'wrong_type/number': 'Digite um número.',
    'invalid/plainDate': 'Digite uma data.',
  },

  /** The links to the next step after an error. */
  steps: {
    'forgot-password': 'Redefinir sua senha',
    reauthenticate: 'Confirmar que é você',
    'sign-in': 'Fazer login',
    'sign-up': 'Criar uma conta',
    support: 'Falar com o suporte',
    'verify-email': 'Confirmar seu e-mail',
  },
};
