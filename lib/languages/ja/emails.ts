import { emailFormatsIn } from '../../words/email-formats.js';
import type { Deletion } from '../../words/emails/deletion.js';
import type { EmailWords } from '../../words/emails/index.js';

const { date, time, duration } = emailFormatsIn('ja');

/** Puts a space after a name in Latin letters, an address or a URL, which mail programs would otherwise link with what follows. */
function spaced(text: string): string {
  return /[!-~]$/.test(text) ? `${text} ` : text;
}

/** The sentences that say that an account was deleted, and how it can be restored. */
function deletion({ at, until }: Deletion): string {
  return until === null
    ? `アカウントは ${date(at)}に削除されました。`
    : `アカウントは ${date(at)}に削除されました。${date(until)}までは復元できます。削除についてのメールのリンクから復元するか、このアプリの運営者に復元を依頼してください。`;
}

/** Where the current link is of no more use. */
const anotherLink = {
  text: '有効期限が過ぎた場合は、ログインページで別のリンクをリクエストできます。',
  action: '別のリンクをリクエスト',
};

/** What stands before the undo link of a sign-in that changed nothing itself. */
const undoAll = ({ within }: { readonly within: string }) =>
  `お心当たりがない場合は、${within}に以下のリンクを開き、全デバイスからログアウトして、その後の変更をすべて元に戻してください:`;

/** The words of emails in Japanese. */
export const emails: EmailWords = {
  date,
  time,
  duration,
  linkExpiry: ({ ms, until }) =>
    until === null
      ? `リンクの有効期間は ${duration(ms)}です。`
      : `リンクの有効期間は ${duration(ms)} (${time(until)} まで) です。`,
  codeExpiry: ({ ms, until }) => `コードの有効期間は ${duration(ms)} (${time(until)} まで) です。`,
  // Each text continues with に.
  within: ({ ms, until }) =>
    until === null ? `${duration(ms)}以内` : `${duration(ms)}以内 (${date(until)}まで) `,
  openLink: 'または、次のリンクを開いてください:',

  labels: { account: 'アカウント', subject: '対象', time: '日時', device: 'デバイス', ip: 'IP アドレス' },
  detail: (label, value) => `${label}: ${value}`,
  unknownDevice: '不明なデバイス',
  unknownBrowser: '不明なブラウザー',
  deviceOn: (browser, system) => `${system} の ${browser}`,
  browserOn: (system) => `${system} のブラウザー`,

  unverified:
    'このメールアドレスがアカウントに使用されたため、このメールをお送りしています。アカウントをお持ちでない場合は、このメールを無視してください。',
  undo: ({ within }) => `お心当たりがない場合は、${within}に以下から元に戻してください:`,
  undoAction: '心当たりがありません',
  undoWhere: (browsers) =>
    browsers.length === 0
      ? 'この変更の前に使用していたデバイスで開いてください。パスワードの入力を求められることがあります。'
      : `この変更の前に使用していたデバイス (${browsers.join('、')} など) で開いてください。パスワードの入力を求められることがあります。`,
  undoNowhere: {
    newPassword: {
      text: 'お心当たりがない場合は、新しいパスワードを設定してください:',
      action: '新しいパスワードを設定',
    },
    afterNewPassword: ({ support, within, url }) =>
      `その後、${spaced(support)}までお問い合わせください。行われた操作を元に戻すには、${within}に次のリンクをお知らせいただく必要があります: ${url}`,
    withoutNewPassword: ({ support, within, url }) =>
      `お心当たりがない場合は、${spaced(support)}までお問い合わせください。行われた操作を元に戻すには、${within}に次のリンクをお知らせいただく必要があります: ${url}`,
  },
  help: {
    byApp: ({ support }) =>
      `この変更は、アプリまたは管理者によるものです。お心当たりがない場合は、${spaced(support)}までお問い合わせください。`,
    notYou: ({ support }) => `お心当たりがない場合は、${spaced(support)}までお問い合わせください。`,
  },
  people: (appName) => (appName === null ? 'このサービスの運営者' : `${spaced(appName)}の運営者`),

  texts: {
    'verify-email': {
      subject: 'メールアドレスの確認',
      before: 'ご自身のメールアドレスであることを確認してください:',
      action: 'メールアドレスを確認',
      after: ({ expiry }) => `${expiry}アカウントを作成していない場合は、このメールを無視してかまいません。`,
    },
    'verify-new-email': {
      subject: '新しいメールアドレスの確認',
      before: 'このメールアドレスが、アカウントの新しいメールアドレスであることを確認してください:',
      action: 'メールアドレスを確認',
      after: ({ expiry }) =>
        `${expiry}リクエストしていない場合は、このメールを無視してください。何も変更されていません。`,
    },
    'reset-password': {
      subject: '新しいパスワードの設定',
      before:
        'アカウントの新しいパスワードがリクエストされました。ご自身でリクエストした場合は、以下から設定してください:',
      action: '新しいパスワードを設定',
      after: ({ expiry }) =>
        `${expiry}お心当たりがない場合は、このメールを無視してください。パスワードは変更されていません。`,
    },
    'reset-password/existing-account': {
      subject: 'アカウントをすでにお持ちです',
      first: {
        text: 'このメールアドレスでアカウントの作成が試みられましたが、アカウントはすでにあります。ご自身による操作の場合は、いつもどおりログインしてください。',
        action: 'ログイン',
      },
      before: 'パスワードを忘れた場合は、以下から新しいパスワードを設定してください:',
      action: '新しいパスワードを設定',
      after: ({ expiry }) =>
        `${expiry}お心当たりがない場合は、このメールを無視してください。何も変更されていません。`,
    },
    'reset-password/required': {
      subject: '新しいパスワードの設定',
      before:
        'パスワードが入力されましたが、アカウントには新しいパスワードが必要です。以下から設定してください:',
      action: '新しいパスワードを設定',
      after: ({ expiry }) =>
        `${expiry}お心当たりがない場合は、パスワードを他の人に知られています。このリンクから新しいパスワードを設定してください。`,
    },
    'reset-password/by-administrator': {
      subject: '新しいパスワードの設定',
      before: ({ appName }) =>
        `${appName === null ? '' : `${spaced(appName)}の`}管理者が、アカウントの新しいパスワードの設定を求めています。以下から設定してください:`,
      action: '新しいパスワードを設定',
      after: ({ expiry }) => `${expiry}新しいパスワードを設定するまで、現在のパスワードは変更されません。`,
    },
    'reset-password/restored': {
      subject: '新しいパスワードの設定',
      before:
        'アカウントが復元されました。すべてのセッションが終了し、以前のパスワードはもう使えません。以下から新しいパスワードを設定してください:',
      action: '新しいパスワードを設定',
      after: ({ expiry }) => expiry,
      last: anotherLink,
    },
    'reset-password/undone': {
      subject: '新しいパスワードの設定',
      before:
        'アカウントの変更が元に戻されました。すべてのセッションが終了し、パスワードは、他の人に知られている可能性があるため削除されました。以下から新しいパスワードを設定してください:',
      action: '新しいパスワードを設定',
      after: ({ expiry }) => expiry,
      last: anotherLink,
    },
    invitation: {
      subject: '新しいアカウントのご案内',
      before: 'アカウントが作成されました。以下からパスワードを設定してください:',
      action: 'パスワードを設定',
      after: ({ expiry }) => `${expiry}お心当たりがない場合は、このメールを無視してかまいません。`,
    },
    'organization-invitation': {
      subject: '組織への招待',
      before: ({ inviter, organization }) =>
        inviter === null
          ? `${spaced(organization)}に参加するよう招待されています。`
          : `${spaced(inviter)}から、${spaced(organization)}に参加するよう招待されています。`,
      action: '招待を表示',
      after: ({ expiry }) => `${expiry}招待した人に心当たりがない場合は、このメールを無視してください。`,
    },

    'browser-code': {
      subject: 'ログイン用のコード',
      before:
        '新しいブラウザーで、アカウントのパスワードが入力されました。ご自身による操作の場合は、そのブラウザーで次のコードを入力してください:',
      help: 'お心当たりがない場合は、パスワードを他の人に知られています。コードがなければ、その人はログインできません。以下から新しいパスワードを設定してください:',
      action: '新しいパスワードを設定',
    },
    'verification-code': {
      subject: 'メールアドレスの確認用コード',
      before:
        'ご自身のメールアドレスであることを確認してください。ログインまたはアカウントの作成を行った画面で、次のコードを入力してください:',
      help: 'お心当たりがない場合は、このメールを無視してかまいません。コードは誰にも教えないでください。',
    },
    'reset-code': {
      subject: '新しいパスワードの設定用コード',
      before:
        'アカウントの新しいパスワードがリクエストされました。ご自身でリクエストした場合は、リクエストしたブラウザーで次のコードを入力してください:',
      help: 'お心当たりがない場合は、このメールを無視してください。パスワードは変更されていません。コードは誰にも教えないでください。',
    },
    'sign-in-code': {
      subject: 'ログイン用のコード',
      before: 'リクエストしたブラウザーで、次のコードを入力してください:',
      beforeLink: '同じブラウザーでは、代わりに次のリンクを開くこともできます:',
      action: 'ログイン',
      help: 'リクエストしていない場合は、このメールを無視してください。コードがなければ誰もログインできないため、コードは誰にも教えないでください。',
    },
    'sign-in-code/reauthentication': {
      subject: '本人確認用のコード',
      before: '本人確認のため、リクエストしたブラウザーで次のコードを入力してください:',
      beforeLink: '同じブラウザーでは、代わりに次のリンクを開くこともできます:',
      action: 'ログイン',
      help: 'コードは誰にも教えないでください。',
      advice: {
        text: 'リクエストしていない場合は、他の人がアカウントにログインしている可能性があります。セッションを確認し、見覚えのないものがあればログアウトしてください。',
        action: 'セッションを確認',
      },
    },
    'no-account': {
      subject: 'このメールアドレスのアカウントはありません',
      before:
        'このメールアドレスでのログインがリクエストされましたが、このメールアドレスのアカウントはありません。',
      beforeLink:
        'ご自身でリクエストした場合は、アカウントのメールアドレスを使うか、以下からアカウントを作成してください:',
      action: 'アカウントを作成',
      help: 'リクエストしていない場合は、このメールを無視してください。',
    },
    'no-account/deleted': {
      subject: 'アカウントが削除されました',
      before: (values) => `このメールアドレスでのログインがリクエストされました。${deletion(values)}`,
      help: 'リクエストしていない場合は、このメールを無視してください。',
    },
    'account-exists': {
      subject: 'アカウントをすでにお持ちです',
      before: 'このメールアドレスでアカウントの作成が試みられましたが、アカウントはすでにあります。',
      beforeLink:
        'ご自身による操作の場合は、ログインしてください。パスワードがわからない場合は、以下から新しいパスワードを設定してください:',
      action: '新しいパスワードを設定',
      help: 'お心当たりがない場合は、このメールを無視してください。何も変更されていません。',
    },

    'password-set': {
      subject: 'パスワードが設定されました',
      lines: [
        'パスワードがなかったアカウントに、パスワードが設定されました。このパスワードを知っている人は誰でもログインできます。',
      ],
    },
    'password-changed': {
      subject: 'パスワードが変更されました',
      lines: ['アカウントのパスワードが変更されました。'],
    },
    'password-removed': {
      subject: 'パスワードが削除されました',
      lines: ['アカウントからパスワードが削除されました。他のログイン方法は引き続き使えます。'],
    },
    'password-removed/first-proof': {
      subject: 'パスワードが削除されました',
      lines: [
        'このメールアドレスに送信されたコードで、初めてアカウントへのログインがありました。アカウントには、以前に他の人が設定した可能性のあるパスワードがあったため、そのパスワードは削除されました。',
        'パスワードでログインするには、新しいパスワードを設定してください。',
      ],
    },
    'new-password-required': {
      subject: '新しいパスワードを設定してください',
      lines: ['アカウントには新しいパスワードが必要です。すべてのセッションが終了しました。'],
      advice: {
        text: '最後にもう一度だけ、現在のパスワードでログインしてください。その後、ページまたはメールで送信するリンクから、新しいパスワードを設定してください。',
        action: 'ログイン',
      },
    },
    'email-change-requested': {
      subject: 'メールアドレスが変更されようとしています',
      lines: [
        'アカウントにログイン中の人が、メールアドレスの変更をリクエストしました。新しいメールアドレスに、確認用リンクが送信されました。',
      ],
      advice: {
        text: 'ご自身でリクエストした場合は、何もする必要はありません。変更を取りやめる場合は、リクエストした画面で変更をキャンセルしてください。お心当たりがない場合は、今すぐパスワードを設定または変更してください。そうすると、確認用リンクは使えなくなります。',
        action: 'パスワードを変更',
      },
    },
    'email-changed': {
      subject: 'メールアドレスが変更されました',
      lines: [
        'アカウントのメールアドレスが新しいものに変更されました。このメールアドレスは、アカウントのメールアドレスではなくなりました。',
      ],
    },
    'email-change-conflict': {
      subject: 'このメールアドレスのアカウントをすでにお持ちです',
      lines: [
        'このメールアドレスを別のアカウントのメールアドレスにすることがリクエストされました。このメールアドレスはすでにお持ちのアカウントで使われているため、何も変更されていません。',
      ],
      advice: {
        text: 'ご自身でリクエストした場合は、先にこのメールアドレスのアカウントにログインし、そのメールアドレスを変更するか、アカウントを削除してください。お心当たりがない場合は、このメールを無視してください。',
        action: 'ログイン',
      },
    },
    'username-changed': {
      subject: 'ユーザー名が変更されました',
      lines: [
        'アカウントのユーザー名が新しいものに変更されました。以前のユーザー名ではログインできなくなりました。',
      ],
    },
    'device-forgotten': {
      subject: 'ブラウザーの記録が削除されました',
      lines: [
        'アカウントに記録されているブラウザーの一覧から、ブラウザーが削除されました。次にそのブラウザーでログインすると、新しいブラウザーでのログインとして扱われます。',
      ],
      about: 'ブラウザー',
    },
    'new-device': {
      subject: '新しいブラウザーでログインがありました',
      lines: ['アカウントで初めて使用されるブラウザーで、ログインがありました。'],
      undo: undoAll,
    },
    'data-exported': {
      subject: 'アカウントのデータがダウンロードされました',
      lines: [
        'アカウントへのログインがあり、保存されているご自身に関するデータのファイルがダウンロードされました。',
      ],
      undo: undoAll,
    },
    'second-factor-enabled': {
      subject: '2 段階認証がオンになりました',
      lines: [
        '今後、アカウントにログインするには、認証アプリのコードも必要です。他のすべてのセッションが終了しました。',
      ],
    },
    'second-factor-enabled/passkeys': {
      subject: '2 段階認証がオンになりました',
      lines: [
        '今後、アカウントにログインするには、いずれかのパスキーも必要です。他のすべてのセッションが終了しました。',
      ],
    },
    'second-factor-enabled/passkey-added': {
      subject: '2 段階認証がオンになりました',
      lines: [
        'アカウントにパスキーが追加されました。今後、アカウントにログインするには、いずれかのパスキーが必要です。他のすべてのセッションが終了しました。',
      ],
      about: 'パスキー',
    },
    'second-factor-disabled': {
      subject: '2 段階認証がオフになりました',
      lines: ['アカウントへのログインに、2 段階認証は必要なくなりました。リカバリーコードも削除されました。'],
    },
    'second-factor-disabled/everything': {
      subject: '2 段階認証がオフになりました',
      lines: [
        'アカウントの 2 段階認証がオフになりました。パスキーとリカバリーコードは削除されました。ログインすると、2 段階認証をもう一度設定するよう求められます。',
      ],
    },
    'second-factor-disabled/passkeys': {
      subject: '2 段階認証がオフになりました',
      lines: [
        'アカウントへのログインに、2 段階目の認証としてのパスキーは必要なくなりました。リカバリーコードも削除されました。',
      ],
    },
    'second-factor-disabled/codes-stay': {
      subject: 'パスキーは 2 段階目の認証に使われなくなりました',
      lines: [
        'アカウントへのログインに、パスキーは必要なくなりました。認証アプリのコードは引き続き必要です。',
      ],
    },
    'second-factor-disabled/passkeys-stay': {
      subject: '認証アプリが削除されました',
      lines: [
        'アカウントへのログインに、認証アプリのコードは必要なくなりました。いずれかのパスキーは引き続き必要です。',
      ],
    },
    'recovery-code-used': {
      subject: 'リカバリーコードが使用されました',
      lines: [
        '認証アプリのコードまたはパスキーの代わりに、アカウントのリカバリーコードの 1 つが使用されました。このリカバリーコードは、もう使えません。',
      ],
    },
    'recovery-codes-renewed': {
      subject: '新しいリカバリーコードが作成されました',
      lines: ['アカウントの新しいリカバリーコードが作成されました。以前のコードはもう使えません。'],
    },
    'second-factor-attempts': {
      subject: 'パスワードを他の人に知られている可能性があります',
      lines: [
        '正しいパスワードまたは他の 1 段階目の認証の後、アカウントに対して、間違ったコードが 10 回続けて入力されました。',
      ],
      advice: {
        text: 'お心当たりがない場合は、今すぐパスワードを変更してください。アカウントは 2 段階認証で保護されました。',
        action: 'パスワードを変更',
      },
    },
    'passkey-added': {
      subject: 'パスキーが追加されました',
      lines: [
        'アカウントにパスキーが追加されました。このパスキーを持っている人は誰でも、アカウントにログインできます。',
      ],
      about: 'パスキー',
    },
    'passkey-removed': {
      subject: 'パスキーが削除されました',
      lines: ['アカウントからパスキーが削除されました。このパスキーではログインできなくなりました。'],
      about: 'パスキー',
    },
    'passkey-removed/last': {
      subject: 'パスキーが削除されました',
      lines: [
        'アカウントからパスキーが削除されました。このパスキーではログインできなくなりました。',
        'これは最後のパスキーだったため、パスワードでのログインにパスキーは必要なくなりました。認証アプリがない場合は、リカバリーコードも削除されました。',
      ],
      about: 'パスキー',
    },
    'provider-linked': {
      subject: 'ログイン方法が追加されました',
      lines: [
        '別のサービスのアカウントが、アカウントと連携されました。そのアカウントを持っている人は誰でも、ここにログインできます。',
      ],
      about: 'サービス',
    },
    'provider-unlinked': {
      subject: 'ログイン方法が削除されました',
      lines: ['アカウントと、別のサービスのアカウントとの連携が解除されました。'],
      about: 'サービス',
    },
    'api-key-created': {
      subject: 'API キーが作成されました',
      lines: [
        'API キーが作成されました。このキーを持つプログラムは、ログインせずにユーザーの代わりに操作を行えます。',
      ],
      about: 'API キー',
    },
    'account-deleted': {
      subject: 'アカウントが削除されました',
      lines: ['アカウントは、関連するすべてのデータとともに削除されました。'],
    },
    'account-deleted/pending': {
      subject: 'アカウントが削除されました',
      lines: ({ days, until }) => [
        `アカウントが削除されました。このアカウントには誰もログインできません。${days} 日後の ${date(until)}に、アカウントは関連するすべてのデータとともに完全に削除されます。`,
      ],
      undo: ({ within }) =>
        `お心当たりがない場合、または削除を取りやめる場合は、${within}に以下からアカウントを復元してください:`,
      action: 'アカウントを復元',
    },
    'deleted-account': {
      subject: 'アカウントが削除されました',
      lines: (values) => [
        'このメールアドレスで、新しいパスワードのリクエストまたはアカウントの作成がありました。',
        deletion(values),
        'このアカウントに新しいパスワードは設定できません。お心当たりがない場合は、このメールを無視してください。何も変更されていません。',
      ],
    },
    'account-recovered': {
      subject: 'アカウントの変更が元に戻されました',
      lines: [
        '以前のメールのリンクから、アカウントの変更と、その後のすべての変更が元に戻されました。すべてのセッションが終了しました。',
      ],
    },
    'account-recovered/deletion': {
      subject: 'アカウントが復元されました',
      lines: ['削除されていたアカウントが、以前のメールのリンクから復元されました。'],
    },
    'administrator-acted': {
      subject: '管理者がアカウントを開きました',
      lines: [
        'このアプリの運営者が、ユーザーと同じ画面を見るためにアカウントを開きました。この方法では、パスワードや他のログイン方法を見ることも変更することもできません。',
      ],
    },
    'administrator-added': {
      subject: '管理者になりました',
      lines: [
        'アカウントに、管理者になるロールが付与されました。お心当たりがない場合は、このアプリの運営者に知らせてください。',
      ],
    },
    'administrator-added/others': {
      subject: 'ユーザーが管理者になりました',
      lines: [
        'ユーザーに、管理者になるロールが付与されました。お心当たりがない場合は、ユーザーからそのロールを外し、誰が付与したかを確認してください。',
      ],
      about: 'ユーザー ID',
    },
    'organization-owner-added': {
      subject: '組織に新しいオーナーが追加されました',
      lines: [
        'オーナーになっている組織で、メンバーが新しくオーナーになりました。オーナーは、組織の削除を含め、組織内のすべての操作を行えます。',
        'お心当たりがない場合は、他のオーナーに確認するか、新しいオーナーのロールを変更してください。',
      ],
      about: '組織',
    },
    'organization-owner-added/new-owner': {
      subject: '組織のオーナーになりました',
      lines: [
        '組織のオーナーになりました。オーナーは、組織の削除を含め、組織内のすべての操作を行えます。',
        'お心当たりがない場合は、他のオーナーに確認してください。',
      ],
      about: '組織',
    },
  },
};
