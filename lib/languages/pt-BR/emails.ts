import { emailFormatsIn } from '../../words/email-formats.js';
import type { EmailWords } from '../../words/emails/index.js';
import { pluralsIn } from '../../words/plural.js';

const { date, time, duration } = emailFormatsIn('pt-BR');
const plural = pluralsIn('pt-BR');

const BROWSERS = new Intl.ListFormat('pt-BR', { type: 'disjunction' });

/** The sentences that say that an account was deleted, and how it can be restored. */
function deletion({ at, until }: { readonly at: Date; readonly until: Date | null }): string {
  const deleted = `Sua conta foi excluída em ${date(at)}.`;
  return until === null
    ? deleted
    : `${deleted} Até ${date(until)}, ela pode ser restaurada: com o link do nosso e-mail sobre a exclusão ou pelos responsáveis por este app.`;
}

/** The texts of emails in Brazilian Portuguese. */
export const emails: EmailWords = {
  date,
  time,
  duration,
  linkExpiry: ({ ms, until }) =>
    until === null
      ? `O link expira em ${duration(ms)}.`
      : `O link expira em ${duration(ms)}, no dia ${time(until)}.`,
  codeExpiry: ({ ms, until }) => `O código vale por ${duration(ms)}, até ${time(until)}.`,
  within: ({ ms, until }) =>
    until === null ? `no prazo de ${duration(ms)}` : `no prazo de ${duration(ms)}, até ${date(until)}`,
  openLink: 'Ou abra este link:',

  labels: {
    account: 'Conta',
    subject: 'Item',
    time: 'Data e hora',
    device: 'Dispositivo',
    ip: 'Endereço IP',
  },
  detail: (label, value) => `${label}: ${value}`,
  unknownDevice: 'um dispositivo desconhecido',
  unknownBrowser: 'um navegador desconhecido',
  deviceOn: (browser, system) => `${browser} no ${system}`,
  browserOn: (system) => `um navegador no ${system}`,

  unverified:
    'Você está recebendo este e-mail porque alguém usou seu endereço para uma conta. Se você não tem uma conta, ignore este e-mail.',
  undo: ({ within }) => `Se não foi você, desfaça isso aqui ${within}:`,
  undoAction: 'Não fui eu',
  undoWhere: (browsers) =>
    browsers.length === 0
      ? 'Abra o link em um dispositivo que você usou antes desta alteração. Talvez seja preciso digitar sua senha.'
      : `Abra o link em um dispositivo que você usou antes desta alteração, como ${BROWSERS.format(browsers)}. Talvez seja preciso digitar sua senha.`,
  undoNowhere: {
    newPassword: {
      text: 'Se não foi você, escolha uma nova senha:',
      action: 'Escolher uma nova senha',
    },
    // `support` can be an address, so nothing before it may contract with an article.
    afterNewPassword: ({ support, within, url }) =>
      `Depois, fale com ${support}. Para desfazer o que foi feito, o suporte precisará deste link ${within}: ${url}`,
    withoutNewPassword: ({ support, within, url }) =>
      `Se não foi você, fale com ${support}. Para desfazer o que foi feito, o suporte precisará deste link ${within}: ${url}`,
  },
  help: {
    byApp: ({ support }) =>
      `O app ou um administrador fez esta alteração. Se você não a esperava, fale com ${support}.`,
    notYou: ({ support }) => `Se não foi você, fale com ${support}.`,
  },
  people: (appName) => `os responsáveis por ${appName ?? 'este serviço'}`,

  texts: {
    'verify-email': {
      subject: 'Confirme seu e-mail',
      before: 'Confirme que este e-mail é seu:',
      action: 'Confirmar o endereço',
      after: ({ expiry }) => `${expiry} Se você não criou uma conta, pode ignorar este e-mail.`,
    },
    'verify-new-email': {
      subject: 'Confirme seu novo e-mail',
      before: 'Confirme que este é o novo e-mail da sua conta:',
      action: 'Confirmar o endereço',
      after: ({ expiry }) => `${expiry} Se você não pediu isso, ignore este e-mail: nada foi alterado.`,
    },
    'reset-password': {
      subject: 'Escolha uma nova senha',
      before: 'Alguém solicitou uma nova senha para sua conta. Se foi você, escolha uma aqui:',
      action: 'Escolher uma nova senha',
      after: ({ expiry }) => `${expiry} Se não foi você, ignore este e-mail: sua senha não foi alterada.`,
    },
    'reset-password/existing-account': {
      subject: 'Você já tem uma conta',
      first: {
        text: 'Alguém tentou criar uma conta com seu e-mail, mas você já tem uma. Se foi você, faça login como de costume.',
        action: 'Fazer login',
      },
      before: 'Se você esqueceu sua senha, escolha uma nova aqui:',
      action: 'Escolher uma nova senha',
      after: ({ expiry }) => `${expiry} Se não foi você, ignore este e-mail: nada foi alterado.`,
    },
    'reset-password/required': {
      subject: 'Escolha uma nova senha',
      before: 'Você digitou sua senha, e sua conta precisa de uma nova. Escolha-a aqui:',
      action: 'Escolher uma nova senha',
      after: ({ expiry }) =>
        `${expiry} Se não foi você, alguém sabe sua senha: escolha uma nova com este link.`,
    },
    'reset-password/by-administrator': {
      subject: 'Escolha uma nova senha',
      before: ({ appName }) =>
        appName === null
          ? 'Um administrador pede que você escolha uma nova senha para sua conta. Escolha uma aqui:'
          : `Um administrador de ${appName} pede que você escolha uma nova senha para sua conta. Escolha uma aqui:`,
      action: 'Escolher uma nova senha',
      after: ({ expiry }) => `${expiry} Até você escolher uma nova senha, a atual não muda.`,
    },
    'reset-password/restored': {
      subject: 'Escolha uma nova senha',
      before:
        'Sua conta foi restaurada. Todas as sessões foram encerradas, e a senha anterior não funciona mais. Escolha uma nova senha aqui:',
      action: 'Escolher uma nova senha',
      after: ({ expiry }) => expiry,
      last: {
        text: 'Depois disso, você pode pedir outro link na página de login.',
        action: 'Pedir outro link',
      },
    },
    'reset-password/undone': {
      subject: 'Escolha uma nova senha',
      before:
        'Uma alteração da sua conta foi desfeita. Todas as sessões foram encerradas, e a senha foi removida, porque outra pessoa pode saber qual é. Escolha uma nova senha aqui:',
      action: 'Escolher uma nova senha',
      after: ({ expiry }) => expiry,
      last: {
        text: 'Depois disso, você pode pedir outro link na página de login.',
        action: 'Pedir outro link',
      },
    },
    invitation: {
      subject: 'Sua nova conta',
      before: 'Uma conta foi criada para você. Escolha uma senha aqui:',
      action: 'Escolher uma senha',
      after: ({ expiry }) => `${expiry} Se você não esperava isso, pode ignorar este e-mail.`,
    },
    'organization-invitation': {
      subject: 'Você recebeu um convite para uma organização',
      before: ({ inviter, organization }) =>
        inviter === null
          ? `Você recebeu um convite para participar de ${organization}.`
          : `${inviter} convida você para participar de ${organization}.`,
      action: 'Ver o convite',
      after: ({ expiry }) => `${expiry} Se você não sabe quem fez o convite, ignore este e-mail.`,
    },

    'browser-code': {
      subject: 'Seu código de login',
      before:
        'Alguém digitou a senha da sua conta em um navegador que é novo para ela. Se foi você, digite lá este código:',
      help: 'Se não foi você, alguém sabe sua senha. Essa pessoa não pode fazer login sem o código. Escolha uma nova senha aqui:',
      action: 'Escolher uma nova senha',
    },
    'verification-code': {
      subject: 'Seu código para confirmar seu e-mail',
      before: 'Confirme que este e-mail é seu. Digite este código onde você fez login ou criou a conta:',
      help: 'Se não foi você, pode ignorar este e-mail. Não compartilhe o código.',
    },
    'reset-code': {
      subject: 'Seu código para uma nova senha',
      before:
        'Alguém solicitou uma nova senha para sua conta. Se foi você, digite este código no navegador em que o pediu:',
      help: 'Se não foi você, ignore este e-mail: sua senha não foi alterada. Não compartilhe o código.',
    },
    'sign-in-code': {
      subject: 'Seu código de login',
      before: 'Digite este código no navegador em que você o pediu:',
      beforeLink: 'Se preferir, abra este link no mesmo navegador:',
      action: 'Fazer login',
      help: 'Se você não pediu este código, ignore este e-mail. Ninguém pode fazer login sem ele, então não o compartilhe.',
    },
    'sign-in-code/reauthentication': {
      subject: 'Seu código',
      before: 'Para confirmar que é você, digite este código no navegador em que o pediu:',
      beforeLink: 'Se preferir, abra este link no mesmo navegador:',
      action: 'Fazer login',
      help: 'Não compartilhe o código.',
      advice: {
        text: 'Se você não pediu este código, outra pessoa pode ter feito login na sua conta. Confira suas sessões e saia da conta naquelas que você não reconhece.',
        action: 'Conferir suas sessões',
      },
    },
    'no-account': {
      subject: 'Não há uma conta com seu endereço',
      before: 'Alguém pediu para fazer login com este e-mail, mas não há uma conta com ele.',
      beforeLink: 'Se foi você, use o endereço da sua conta ou crie uma conta aqui:',
      action: 'Criar uma conta',
      help: 'Se você não pediu isso, ignore este e-mail.',
    },
    'no-account/deleted': {
      subject: 'Sua conta foi excluída',
      before: (values) => `Alguém pediu para fazer login com este e-mail. ${deletion(values)}`,
      help: 'Se você não pediu isso, ignore este e-mail.',
    },
    'account-exists': {
      subject: 'Você já tem uma conta',
      before: 'Alguém tentou criar uma conta com este e-mail, mas ele já tem uma.',
      beforeLink: 'Se foi você, faça login. Se você não sabe a senha, escolha uma nova aqui:',
      action: 'Escolher uma nova senha',
      help: 'Se não foi você, ignore este e-mail: nada foi alterado.',
    },

    'password-set': {
      subject: 'Uma senha foi definida para sua conta',
      lines: [
        'Sua conta não tinha senha e agora tem uma. Qualquer pessoa que saiba a senha pode fazer login.',
      ],
    },
    'password-changed': {
      subject: 'Sua senha foi alterada',
      lines: ['A senha da sua conta foi alterada.'],
    },
    'password-removed': {
      subject: 'Sua senha foi removida',
      lines: ['Sua conta não tem mais uma senha. Seus outros métodos de login continuam funcionando.'],
    },
    'password-removed/first-proof': {
      subject: 'Sua senha foi removida',
      lines: [
        'Pela primeira vez, alguém fez login na sua conta com um código enviado para este endereço. Sua conta tinha uma senha que outra pessoa pode ter escolhido antes, então a senha foi removida.',
        'Se você quiser fazer login com uma senha, escolha uma nova.',
      ],
    },
    'new-password-required': {
      subject: 'Escolha uma nova senha',
      lines: ['Sua conta precisa de uma nova senha, e todas as sessões foram encerradas.'],
      advice: {
        text: 'Faça login com sua senha atual uma última vez. Depois, escolha uma nova, na página ou com um link que enviaremos por e-mail.',
        action: 'Fazer login',
      },
    },
    'email-change-requested': {
      subject: 'Seu e-mail está prestes a mudar',
      lines: [
        'Alguém que fez login na sua conta pediu para alterar o e-mail dela. Um link de confirmação foi enviado para o novo endereço.',
      ],
      advice: {
        text: 'Se foi você, não precisa fazer nada. Se mudou de ideia, cancele a alteração onde você a pediu. Se não foi você, defina ou altere sua senha agora, para que o link de confirmação deixe de funcionar.',
        action: 'Alterar sua senha',
      },
    },
    'email-changed': {
      subject: 'Seu e-mail foi alterado',
      lines: ['Sua conta tem um novo e-mail. Este endereço não pertence mais à sua conta.'],
    },
    'email-change-conflict': {
      subject: 'Você já tem uma conta com este e-mail',
      lines: [
        'Alguém pediu que este passasse a ser o e-mail de outra conta. Nada foi alterado, porque sua conta tem este e-mail.',
      ],
      advice: {
        text: 'Se foi você, primeiro faça login na conta que tem este e-mail e altere o e-mail dela ou exclua a conta. Se não foi você, ignore este e-mail.',
        action: 'Fazer login',
      },
    },
    'username-changed': {
      subject: 'Seu nome de usuário foi alterado',
      lines: [
        'Sua conta tem um novo nome de usuário. Você não pode mais fazer login com o nome de usuário anterior.',
      ],
    },
    'device-forgotten': {
      subject: 'Sua conta esqueceu um navegador',
      lines: [
        'Um navegador foi removido da lista de navegadores que sua conta conhece. O próximo login nele contará como um login em um novo navegador.',
      ],
      about: 'Navegador',
    },
    'new-device': {
      subject: 'Um login em um novo navegador',
      lines: ['Alguém fez login na sua conta em um navegador que é novo para ela.'],
      undo: ({ within }) =>
        `Se não foi você, saia de todos os dispositivos e desfaça todas as alterações posteriores aqui ${within}:`,
    },
    'data-exported': {
      subject: 'Os dados da sua conta foram baixados',
      lines: [
        'Alguém fez login na sua conta e baixou um arquivo com os dados que estão armazenados sobre você.',
      ],
      undo: ({ within }) =>
        `Se não foi você, saia de todos os dispositivos e desfaça todas as alterações posteriores aqui ${within}:`,
    },
    'second-factor-enabled': {
      subject: 'A autenticação de dois fatores foi ativada',
      lines: [
        'De agora em diante, o login na sua conta também exige um código do seu app autenticador. Todas as outras sessões foram encerradas.',
      ],
    },
    'second-factor-enabled/passkeys': {
      subject: 'A autenticação de dois fatores foi ativada',
      lines: [
        'De agora em diante, o login na sua conta também exige uma das suas chaves de acesso. Todas as outras sessões foram encerradas.',
      ],
    },
    'second-factor-enabled/passkey-added': {
      subject: 'A autenticação de dois fatores foi ativada',
      lines: [
        'Uma chave de acesso foi adicionada à sua conta. De agora em diante, o login na sua conta exige uma das suas chaves de acesso. Todas as outras sessões foram encerradas.',
      ],
      about: 'Chave de acesso',
    },
    'second-factor-disabled': {
      subject: 'A autenticação de dois fatores foi desativada',
      lines: [
        'O login na sua conta não exige mais a autenticação de dois fatores. Seus códigos de recuperação também foram excluídos.',
      ],
    },
    'second-factor-disabled/everything': {
      subject: 'A autenticação de dois fatores foi desativada',
      lines: [
        'Sua conta não tem mais a autenticação de dois fatores. As chaves de acesso e os códigos de recuperação dela foram excluídos. Quando você fizer login, será preciso configurar a autenticação novamente.',
      ],
    },
    'second-factor-disabled/passkeys': {
      subject: 'A autenticação de dois fatores foi desativada',
      lines: [
        'O login na sua conta não exige mais uma das suas chaves de acesso como segunda etapa. Seus códigos de recuperação também foram excluídos.',
      ],
    },
    'second-factor-disabled/codes-stay': {
      subject: 'Suas chaves de acesso não são mais a segunda etapa',
      lines: [
        'O login na sua conta não exige mais uma das suas chaves de acesso. Ele ainda exige um código do seu app autenticador.',
      ],
    },
    'second-factor-disabled/passkeys-stay': {
      subject: 'Seu app autenticador foi removido',
      lines: [
        'O login na sua conta não exige mais um código do seu app autenticador. Ele ainda exige uma das suas chaves de acesso.',
      ],
    },
    'recovery-code-used': {
      subject: 'Um código de recuperação foi usado',
      lines: [
        'Alguém usou um dos códigos de recuperação da sua conta em vez de um código do seu app autenticador ou de uma chave de acesso. Este código de recuperação não pode ser usado novamente.',
      ],
    },
    'recovery-codes-renewed': {
      subject: 'Você tem novos códigos de recuperação',
      lines: ['Sua conta tem novos códigos de recuperação. Os códigos anteriores não funcionam mais.'],
    },
    'second-factor-attempts': {
      subject: 'Alguém pode saber sua senha',
      lines: [
        'Dez códigos incorretos seguidos foram digitados para sua conta, depois da senha correta ou de outra primeira etapa.',
      ],
      advice: {
        text: 'Se não foi você, altere sua senha agora. A autenticação de dois fatores protegeu sua conta.',
        action: 'Alterar sua senha',
      },
    },
    'passkey-added': {
      subject: 'Uma chave de acesso foi adicionada à sua conta',
      lines: [
        'Uma chave de acesso foi adicionada à sua conta. Qualquer pessoa que a tenha pode fazer login na sua conta.',
      ],
      about: 'Chave de acesso',
    },
    'passkey-removed': {
      subject: 'Uma chave de acesso foi removida da sua conta',
      lines: ['Uma chave de acesso foi removida da sua conta. Não é mais possível usá-la para fazer login.'],
      about: 'Chave de acesso',
    },
    'passkey-removed/last': {
      subject: 'Uma chave de acesso foi removida da sua conta',
      lines: [
        'Uma chave de acesso foi removida da sua conta. Não é mais possível usá-la para fazer login.',
        'Era sua última chave de acesso, então um login com sua senha não pede mais uma. Se você não tem um app autenticador, seus códigos de recuperação também foram excluídos.',
      ],
      about: 'Chave de acesso',
    },
    'provider-linked': {
      subject: 'Um método de login foi adicionado à sua conta',
      lines: [
        'Uma conta de outro serviço foi vinculada à sua. Qualquer pessoa que tenha essa conta agora pode fazer login aqui.',
      ],
      about: 'Serviço',
    },
    'provider-unlinked': {
      subject: 'Um método de login foi removido da sua conta',
      lines: ['Sua conta não está mais vinculada a uma conta de outro serviço.'],
      about: 'Serviço',
    },
    'api-key-created': {
      subject: 'Uma chave de API foi criada para sua conta',
      lines: ['Uma chave de API foi criada. Os programas que a têm podem agir em seu nome sem fazer login.'],
      about: 'Chave de API',
    },
    'account-deleted': {
      subject: 'Sua conta foi excluída',
      lines: ['Sua conta foi excluída, com tudo o que pertencia a ela.'],
    },
    'account-deleted/pending': {
      subject: 'Sua conta foi excluída',
      lines: ({ days, until }) => [
        `Sua conta foi excluída. Ninguém pode fazer login nela. Em ${days} ${plural(days, { one: 'dia', other: 'dias' })}, no dia ${date(until)}, ela será excluída permanentemente, com tudo o que pertence a ela.`,
      ],
      undo: ({ within }) => `Se não foi você ou se você mudou de ideia, restaure a conta aqui ${within}:`,
      action: 'Restaurar a conta',
    },
    'deleted-account': {
      subject: 'Sua conta foi excluída',
      lines: (values) => [
        'Alguém pediu uma nova senha com este e-mail ou tentou criar uma conta com ele.',
        deletion(values),
        'Não é possível escolher uma nova senha para ela. Se não foi você, ignore este e-mail: nada foi alterado.',
      ],
    },
    'account-recovered': {
      subject: 'Uma alteração da sua conta foi desfeita',
      lines: [
        'Alguém usou o link de um e-mail anterior para desfazer uma alteração da sua conta e todas as alterações posteriores. Todas as sessões foram encerradas.',
      ],
    },
    'account-recovered/deletion': {
      subject: 'Sua conta foi restaurada',
      lines: ['Alguém usou o link de um e-mail anterior para restaurar sua conta, que tinha sido excluída.'],
    },
    'administrator-acted': {
      subject: 'Um administrador abriu sua conta',
      lines: [
        'Alguém responsável por este app abriu sua conta, para ver o app como você vê. Sua senha e seus outros métodos de login não podem ser vistos nem alterados dessa forma.',
      ],
    },
    'administrator-added': {
      subject: 'Agora você tem acesso de administrador',
      lines: [
        'Sua conta recebeu uma função que dá a você acesso de administrador. Se você não esperava isso, avise os responsáveis por este app.',
      ],
    },
    'administrator-added/others': {
      subject: 'Um usuário agora é administrador',
      lines: [
        'Um usuário recebeu uma função que dá acesso de administrador. Se você não esperava isso, retire a função do usuário e descubra quem a deu.',
      ],
      about: 'ID do usuário',
    },
    'organization-owner-added': {
      subject: 'Uma organização tem um novo proprietário',
      lines: [
        'Um membro passou a ser proprietário de uma organização da qual você também é proprietário. Os proprietários podem fazer tudo nela, inclusive excluí-la.',
        'Se você não esperava isso, fale com os outros proprietários ou altere a função do novo proprietário.',
      ],
      about: 'Organização',
    },
    'organization-owner-added/new-owner': {
      subject: 'Agora você é proprietário de uma organização',
      lines: [
        'Você passou a ser proprietário de uma organização. Os proprietários podem fazer tudo nela, inclusive excluí-la.',
        'Se você não esperava isso, fale com os outros proprietários.',
      ],
      about: 'Organização',
    },
  },
};
