import { type Html, html } from '../../html.js';
import type { PageWords } from '../../words/pages/index.js';
import { pluralsIn } from '../../words/plural.js';

const plural = pluralsIn('ja');

/** Puts a space after an address, but not after the words that stand in for one, which are a string. */
function spaced(address: Html | string): Html | string {
  return typeof address === 'string' ? address : html`${address} `;
}

/** The sentence about a password that the user cannot sign in with yet. */
function unusable(hasPassword: boolean, missing: string): string {
  return hasPassword
    ? `まだパスワードではログインできません。先にプロフィールで${missing}を追加してください。`
    : `アカウントにパスワードが設定されていません。設定するには、先にプロフィールで${missing}を追加してください。`;
}

/** The error of a request that a page does not send, unless someone has changed it. */
const unexpected = 'うまくいきませんでした。ページを再読み込みして、もう一度お試しください。';

/** What every page says of an emailed code that is used up. */
const codeOver =
  'このコードはもう使えません。有効期限が切れたか、すでに使用されたか、間違ったコードが何度も入力されました。別のコードをメールで受け取ってください。';

/** What it says of the code of an authenticator app. It does not say which it is, because that is a hint for attackers. */
const wrongTotp =
  'コードが間違っているか、すでに使用されています。コードを確認するか、次のコードが表示されるまでお待ちください。';

/** What follows "is wrong", where a sign-in before the email is confirmed is rejected in the same way. */
const unconfirmed =
  'か、メールアドレスがまだ確認されていません。アカウントを作成したばかりの場合は、メールで送信したリンクを開いてください。';

/** What is said of an empty password where only that of one account proves who it is. */
const ownPassword = 'このアカウントのパスワードを入力してください。';

const wrongSlug =
  '英小文字、数字、ハイフンを 2～63 文字で入力してください。ハイフンは続けて使えません。先頭と末尾は英小文字か数字にしてください。';

const unknownRole =
  'この一覧からロールを選択してください。一覧が変更された可能性があるため、このページを開き直してください。';

/** The sentence that the exact wait replaces. */
const later = 'しばらくしてからもう一度お試しください。';

/** The words of the pages in Japanese. */
export const pages: PageWords = {
  titleOf: (title, appName) => `${title} - ${appName}`,
  skip: 'コンテンツへスキップ',
  navigation: 'アカウント',
  backTo: (appName) => `${appName} に戻る`,
  signedInAs: 'ログイン中:',
  terms: '利用規約',
  privacy: 'プライバシー',
  support: 'サポート',
  optional: '任意',
  comma: '、',
  labeled: (label, value) => html`${label}: ${value}`,
  // A colon, because the particle would depend on the action.
  actionOf: (action, about) => `${action}: ${about}`,
  answerOf: (answer, about) => `${answer}: ${about}`,
  sentenceOf: (predicate) => `${predicate}。`,
  yes: 'はい',
  no: 'いいえ',
  notSet: '未設定',
  choose: '選択してください',
  range: {
    between: (minimum, maximum) => `${minimum} から ${maximum} まで。`,
    from: (minimum) => `${minimum} 以上。`,
    to: (maximum) => `${maximum} 以下。`,
  },
  deviceOn: (browser, system) => `${system} の ${browser}`,
  browserOn: (system) => `${system} のブラウザー`,
  inUtc: (label) => `${label} (UTC)`,
  lastUsed: '前回使用',
  continue: '続行',
  sendAgain: 'メールを再送信',
  sentAgain: (email, isCertain) =>
    html`${isCertain ? html`${email} にもう一度メールを送信しました` : html`${email} のアカウントがある場合は、もう一度メールを送信しました`}。届かない場合は、すでに届いている中で最も新しいメールを使ってください。`,
  pressAgain: 'まだ何も実行されていません。もう一度ボタンを押してください。',
  confirmed: (button) => html`本人確認が完了しました。「${button}」で続行してください。`,
  or: 'または',
  close: '閉じる',
  cancel: 'キャンセル',
  ofClose: (action) => ` (${action})`,

  fields: {
    email: 'メールアドレス',
    username: 'ユーザー名',
    either: 'メールアドレスまたはユーザー名',
    password: 'パスワード',
    currentPassword: '現在のパスワード',
    newPassword: '新しいパスワード',
    newEmail: '新しいメールアドレス',
    remember: 'このデバイスでログイン状態を保持する',
    code: 'コード',
    recoveryCode: 'リカバリーコード',
    name: '名前',
    language: '言語',
    anyLanguage: 'ブラウザーの言語',
    languageHint: 'これらのページと、お送りするメールの言語です。',
  },
  confirmation: {
    label: (text) => `確認のため「${text}」と入力してください`,
    word: '削除',
  },
  human: {
    noScript: 'このブラウザーではスクリプトが動作しないため、確認できません。',
    // The ways are at the end, because no particle fits after both a Japanese word and a name in Latin letters.
    otherWays: (ways) => `次の方法ではログインできます: ${ways}。`,
    turnOn: 'JavaScript を有効にして、このページを再読み込みしてください。',
    password: 'パスワード',
    email: 'メールで届くコード',
    list: (ways) => new Intl.ListFormat('ja', { type: 'disjunction' }).format(ways),
  },
  copy: 'コピー',
  copied: 'コピーしました',
  passwordHint: (length) =>
    `${length} 文字以上にしてください。無関係な単語をいくつか組み合わせるのがおすすめです。`,

  usernameHint: '3～30 文字で、英字 (a～z)、数字、アンダースコア、ドット、ハイフンを使えます。',
  passwordAgain: 'パスワードをもう一度入力してください。',

  scripts: {
    failed: 'フォームを送信できませんでした。ネットワークを確認して、もう一度お試しください。',
    broken: '問題が発生しました。少し待ってから、もう一度お試しください。',
    unsaved: 'まだ保存されていません。',
    show: '表示',
    hide: '非表示',
    showOf: '{field}を表示',
    hideOf: '{field}を非表示',
    passkeys: {
      failed: 'パスキーを使用できませんでした。もう一度お試しください。',
      offline: 'うまくいきませんでした。ネットワークを確認して、もう一度お試しください。',
      NotAllowedError:
        'パスキーは使用されませんでした。キャンセルされたか、時間がかかりすぎたか、このサイトのパスキーがこのデバイスにありません。',
      InvalidStateError: 'このデバイスには、アカウントのパスキーがすでにあります。',
      NotSupportedError:
        'このデバイスではパスキーを使えません。スマートフォンまたはパスワードマネージャーをお試しください。',
      SecurityError: 'この URL ではパスキーを使えません。',
      'sign-in': {
        invalid_passkey:
          'このパスキーに対応するアカウントがなくなったか、時間がかかりすぎました。もう一度試すか、別の方法でログインしてください。',
      },
      create: {
        NotAllowedError: 'パスキーは追加されませんでした。キャンセルされたか、時間がかかりすぎました。',
      },
    },
  },

  names: {
    account: 'プロフィール',
    'account/security': 'セキュリティ',
    'account/sessions': 'セッション',
    'account/api-keys': 'API キー',
    'account/organizations': '組織',
    'administration/users': 'ユーザー',
  },

  signIn: {
    title: 'ログイン',
    titleOf: (appName) => `${appName} にログイン`,
    submit: 'ログイン',
    already: 'すでにログインしています',
    byEmail: 'コードをメールで受け取る',
    byEmailHint: 'ログイン用のコードをメールで送信します。パスワードは必要ありません。',
    byPasskey: 'パスキーでログイン',
    continueWith: (provider) => `${provider} で続行`,
    forgotten: 'パスワードを忘れた場合',
    restorable: (date) =>
      html`アカウントを削除しました。${date} までは、メールのリンクからアカウントを復元できます。`,
    noAccount: 'まだアカウントをお持ちでない場合は',
    signUp: 'アカウントを作成',
  },
  signUp: {
    title: 'アカウントを作成',
    submit: 'アカウントを作成',
    byEmail: '代わりにメールのコードを使う',
    byEmailHint: 'コードを使う場合、パスワードは必要ありません。',
    byEmailAlone: 'コードをメールで受け取る',
    either: (resets) =>
      `メールアドレス、ユーザー名、またはその両方を入力してください。${resets ? 'メールアドレスがないと、忘れたパスワードを再設定できません。' : ''}`,
    haveAccount: 'すでにアカウントをお持ちの場合は',
    closed:
      'ここではアカウントを作成できません。アカウントが必要な場合は、このアプリの運営者に依頼してください。',
    closedAsk: 'ここではアカウントを作成できません。アカウントが必要な場合のお問い合わせ先:',
    checkMail: 'メールをご確認ください',
    checkMailText: (address) =>
      html`${spaced(address)}にメールを送信しました。このメールアドレスのアカウントがまだない場合は、メールのリンクを開いてからログインしてください。アカウントがある場合は、メールに記載された案内に従ってください。迷惑メールフォルダーもご確認ください。`,
    confirmText: (address) =>
      html`${spaced(address)}にリンクをメールで送信しました。リンクを開いてから、ログインしてください。迷惑メールフォルダーもご確認ください。`,
  },
  signOut: {
    title: 'ログアウト',
    question: (account) =>
      account === null ? 'ログアウトしますか？' : `${account} としてログインしています。`,
    submit: 'ログアウト',
    stay: 'ログインしたままにする',
  },
  passkeyOffer: {
    title: '次回からパスワードなしでログイン',
    text: 'パスキーを作成すると、このデバイスの画面ロックだけでログインできます。',
    create: 'パスキーを作成',
    later: '今はしない',
  },
  secondFactor: {
    title: '本人確認',
    account: (account) => `${account} としてログインしようとしています。`,
    totp: '認証アプリに表示されているコードを入力してください。',
    emailCode: (email, digits) =>
      html`新しいブラウザーでのログインのため、${email} に ${digits} 桁のコードをメールで送信しました。迷惑メールフォルダーもご確認ください。`,
    verifyCode: (email, digits) =>
      html`${email} に ${digits} 桁のコードをメールで送信しました。ご自身のメールアドレスであることを確認するため、コードを入力してください。迷惑メールフォルダーもご確認ください。`,
    passkey: (wasPassword) =>
      wasPassword
        ? 'パスワードを確認しました。次に、パスキーを使用してください。'
        : 'あと 1 ステップです。パスキーを使用してください。',
    recoveryHint: '2 段階認証をオンにしたときに保存したコードの 1 つです。各コードは 1 回だけ使えます。',
    submit: '続行',
    trust: (days) => plural(days, { other: `このブラウザーでは今後 ${days} 日間、確認を省略する` }),
    useRecovery: 'リカバリーコードを使う',
    submitRecovery: 'このリカバリーコードを使う',
    usePasskey: 'パスキーを使う',
    wrongAddress: {
      question: 'メールアドレスが間違っていますか？',
      signUpAgain: '正しいメールアドレスでアカウントを作成し直す',
      orSupport: (link) => html`、またはサポートに問い合わせる: ${link}`,
      support: (link) => html`サポートに問い合わせる: ${link}`,
    },
    lost: (support, appName) =>
      support === null
        ? `スマートフォンとリカバリーコードをなくした場合は、${appName} の運営者にお問い合わせください。`
        : html`スマートフォンとリカバリーコードをなくした場合のお問い合わせ先: ${support}`,
    expires: '制限時間は 10 分です。過ぎた場合は、もう一度ログインしてください。',
    expired:
      '確認が必要なログインはありません。有効期限が切れた可能性があります。もう一度ログインしてください。',
    cancel: '別のアカウントでログイン',
  },
  reauthenticate: {
    title: '本人確認',
    lead: 'セキュリティのため、続行する前に本人確認を行ってください。',
    // The actions are verbs in the form that stands before には.
    leadTo: (what) => `${what}には、本人確認を行ってください。`,
    actions: {
      'account/profile': 'プロフィールを保存する',
      'account/username': 'ユーザー名を変更する',
      'account/email': 'メールアドレスを変更する',
      'account/download': 'データをダウンロードする',
      'account/delete': 'アカウントを削除する',
      'account/api-keys/create': 'API キーを作成する',
      'account/organizations/organization/set-role': 'このメンバーのロールを変更する',
      'account/organizations/organization/remove': 'このメンバーを削除する',
      'account/organizations/organization/invite': 'メンバーを招待する',
      'account/organizations/organization/delete': 'この組織を削除する',
      'account/security/change-password': 'パスワードを変更する',
      'account/security/set-password': 'パスワードを設定する',
      'account/security/remove-password': 'パスワードを削除する',
      'account/security/set-up-app': '認証アプリを設定する',
      'account/security/disable-app': '認証アプリを削除する',
      'account/security/renew-codes': '新しいリカバリーコードを作成する',
      'account/security/use-passkeys': '2 段階目の認証方法を変更する',
      'account/security/remove-passkey': 'このパスキーを削除する',
      'account/security/unlink': 'このアカウントの連携を解除する',
      'account/security/forget-browser': 'このブラウザーの記録を削除する',
      'account/security/start-over': '別のメールアドレスで最初からやり直す',
      'account/security/second-factor/confirm-app': '2 段階認証をオンにする',
      'administration/users/create': 'ユーザーを作成する',
      'administration/users/user/edit': 'このユーザーを変更する',
      'administration/users/user/delete': 'このユーザーを削除する',
      'administration/users/user/roles': 'このユーザーのロールを変更する',
      'administration/users/user/suspend': 'このユーザーの利用を停止する',
      'administration/users/user/reinstate': '利用停止を解除する',
    },
    emailCode: (email) => html`${email} にコードをメールで送信します。`,
    send: 'コードをメールで受け取る',
    sendAgain: '別のコードをメールで受け取る',
    sent: (email, digits, time) =>
      html`${email} に ${digits} 桁のコードをメールで送信しました。コードの有効期間は ${time}です。迷惑メールフォルダーもご確認ください。`,
    none: 'このページでは本人確認ができません。ログアウトして、もう一度ログインしてください。',
    submit: '確認',
    cancel: 'キャンセル',
  },
  forgotPassword: {
    title: 'パスワードを再設定',
    lead: 'アカウントのメールアドレスを入力してください。新しいパスワードを設定するためのリンクをメールで送信します。',
    submit: 'リンクをメールで受け取る',
    codeLead:
      'アカウントのメールアドレスを入力してください。新しいパスワードを設定するためのコードをメールで送信します。',
    codeSubmit: 'コードをメールで受け取る',
    sent: 'メールをご確認ください',
    sentText: (address) =>
      html`${spaced(address)}のアカウントがある場合は、リンクを記載したメールを送信しました。リンクの有効期間は 1 時間です。迷惑メールフォルダーもご確認ください。`,
    anyAddress: 'このメールアドレス',
    again: '別のリンクをメールで受け取る',
    back: 'ログインに戻る',
  },
  resetPassword: {
    title: '新しいパスワードを設定',
    invitationTitle: '招待を承諾',
    lead: (account) => html`${account} のパスワードを設定してください。`,
    ends: '新しいパスワードを設定すると、アカウントのすべてのセッションが終了します。',
    submit: 'パスワードを保存',
    invitationSubmit: 'パスワードを作成',
    invalid: 'このリンクはもう使えません',
    invalidText:
      'すでに使用されたか、有効期限が切れています。新しいパスワードを設定済みの場合は、そのパスワードでログインしてください。',
    invitationInvalidText:
      'すでに使用されたか、有効期限が切れています。パスワードを作成済みの場合は、そのパスワードでログインしてください。まだの場合は、招待した人に別のリンクを依頼してください。',
    again: '新しいリンクをメールで受け取る',
    codeLead:
      'ご指定のメールアドレスのアカウントがある場合は、コードをメールで送信しました。コードをここに入力してください。',
    codeSentTo: (email, digits, time) =>
      html`${email} のアカウントがある場合は、${digits} 桁のコードをメールで送信しました。コードの有効期間は ${time}です。迷惑メールフォルダーもご確認ください。`,
    codeAgain: '別のコードをメールで受け取る',
    codeOther: '別のメールアドレスを使う',
    codeFirst: '先にコードをリクエストしてください',
    codeFirstText:
      'アカウントのメールアドレスを入力すると、新しいパスワードを設定するためのコードをメールで送信します。',
  },
  join: {
    title: (organization) => `${organization} に参加`,
    lead: (organization) => `${organization} に参加するよう招待されています。`,
    leadBy: (inviter, organization) =>
      html`${inviter} から、${organization} に参加するよう招待されています。`,
    email: '招待されたメールアドレス',
    role: 'ロール',
    expires: '有効期限',
    submit: (organization) => `${organization} に参加`,
    task: '参加するには、あと 1 ステップ必要です。',
    otherEmail: (email, account) =>
      account === null
        ? html`この招待は ${email} 宛てで、ログイン中のアカウントのメールアドレスとは異なります。ログアウトして、招待されたメールアドレスで続行してください。`
        : html`この招待は ${email} 宛てですが、${account} としてログインしています。ログアウトして、招待されたメールアドレスで続行してください。`,
    signOut: 'ログアウトして続行',
    signIn: (email) =>
      html`${email} のアカウントがあります。ログインすると、このページに戻って参加できます。`,
    signInFirst: (email) =>
      html`${email} のアカウントはまだありません。続行してアカウントを作成すると、このページに戻って参加できます。`,
    createAccount: (email) =>
      html`${email} のアカウントはまだありません。参加するには、アカウントを作成してください。`,
    submitSignUp: (organization) => `アカウントを作成して ${organization} に参加`,
    otherWay: 'パスワードなしで参加',
    afterwards: (organization) => `このあと、${organization} に参加できます。`,
    joined: (organization) => `${organization} のメンバーになりました。`,
    already: (organization) => `すでに ${organization} のメンバーです`,
    open: (organization) => `${organization} を開く`,
    signUpFirst: (email) =>
      html`${email} のアカウントはまだありません。このメールアドレスでアカウントを作成してから、招待のリンクをもう一度開いてください。`,
    closed: (email) =>
      html`${email} のアカウントはまだなく、ここでは作成できません。このアプリの運営者にアカウントを依頼してから、メールのリンクをもう一度開いてください。`,
    closedAsk: (email) =>
      html`${email} のアカウントはまだなく、ここでは作成できません。アカウントが必要な場合のお問い合わせ先:`,
    nothing: '参加しない場合は、何もする必要はありません。',
    invalid: 'この招待はもう使えません',
    invalidText:
      'すでに使用されたか、新しいメールに置き換えられたか、取り消されたか、有効期限が切れています。最新のメールのリンクを開くか、招待した人に別の招待を依頼してください。',
    withoutLink: 'メールのリンクを開いてください',
    withoutLinkText: '組織に参加するには、招待メールのリンクを開いてください。',
    organizations: '所属している組織',
  },
  verifyEmail: {
    title: 'メールアドレスを確認',
    lead: (account) => `${account} がご自身のメールアドレスであることを確認してください。`,
    password: 'ご自身のアカウントであることを示すため、このアカウントのパスワードを入力してください。',
    submit: '確認',
    invalid: 'このリンクはもう使えません',
    invalidText:
      'すでに使用されたか、有効期限が切れています。メールアドレスを確認済みの場合は、そのままログインしてください。',
    invalidHere: 'すでに使用されたか、有効期限が切れています。新しいリンクを受け取れます。',
    waiting: '先にメールアドレスを確認してください',
    waitingText: (address) =>
      html`${spaced(address)}にメールで送信したリンクを開いてから、ログインしてください。迷惑メールフォルダーもご確認ください。`,
    waitingAgain: '新しいリンクを受け取るには、もう一度ログインしてください。',
    perhapsSent:
      'リンクをメールでお送りしている場合は、リンクを開いてからログインしてください。新しいリンクを受け取るには、ログインしてください。',
    waitingHere: (address) =>
      html`${spaced(address)}にメールで送信したリンクを開いてください。迷惑メールフォルダーもご確認ください。`,
    anyAddress: 'お使いのメールアドレス',
    done: 'メールアドレスを確認しました',
    doneFor: (email) => `${email} を確認しました。`,
    doneText: (account) => `${account} としてログインしています。`,
    send: '新しいリンクをメールで受け取る',
    codeFirst: (email) =>
      html`${spaced(email)}にコードをメールで送信します。ご自身のメールアドレスであることを確認するため、コードをここに入力してください。`,
    codeSentTo: (email, digits, time) =>
      html`${spaced(email)}に ${digits} 桁のコードをメールで送信しました。コードの有効期間は ${time}です。迷惑メールフォルダーもご確認ください。`,
    codeSignUp: (email, digits, time) =>
      html`${spaced(email)}のアカウントがまだない場合は、${digits} 桁のコードをメールで送信しました。コードの有効期間は ${time}です。迷惑メールフォルダーもご確認ください。`,
    codeSend: 'コードをメールで受け取る',
    codeSendNew: '新しいコードをメールで受け取る',
    codeSignIn: 'ログインすると、メールアドレスを確認するためのコードをメールで送信します。',
    later: '今はしない',
  },
  changeEmail: {
    title: '新しいメールアドレスを確認',
    lead: (email) => `${email} をアカウントのメールアドレスとして使います。`,
    account: (account) => `現在のメールアドレスは ${account} です。`,
    elsewhere: 'ログイン中のブラウザーでこのリンクを開いてください',
    elsewhereText:
      'このページのリンクをコピーして、このアカウントにログインしているブラウザーで開いてください。そのブラウザーでは、パスワードは必要ありません。',
    password: 'または、アカウントにパスワードがある場合は、ここに入力してください。',
    submit: 'このメールアドレスを使う',
    invalid: 'このリンクはもう使えません',
    invalidText:
      'すでに使用されたか、有効期限が切れたか、キャンセルされたか、その後アカウントが変更されています。新しいメールに置き換えられた可能性もあります。その場合は、最新のメールのリンクを開いてください。新しいメールアドレスを確認済みの場合は、そのメールアドレスでログインしてください。',
    invalidHere: (email) =>
      `すでに使用されたか、有効期限が切れたか、キャンセルされたか、その後アカウントが変更されています。新しいメールに置き換えられた可能性もあります。その場合は、最新のメールのリンクを開いてください。アカウントのメールアドレスは ${email} です。`,
    signsOut: 'すべてのデバイスからログアウトされます。',
    signsOutOthers: '他のすべてのデバイスからログアウトされます。',
    done: 'メールアドレスを変更しました',
    doneText: (email) => `メールアドレスは ${email} になりました。`,
    doneElsewhere: 'セッションは終了しました。新しいメールアドレスでログインしてください。',
  },
  undoChange: {
    title: '変更を元に戻す',
    what: (change) => `${change}。`,
    emailChanged: (from, to) => `メールアドレスが ${from} から ${to} に変更されました。`,
    account: 'アカウント',
    when: '日時',
    device: 'デバイス',
    unknownDevice: '不明なデバイス',
    lead: 'ご自身による変更でない場合は、元に戻してください。これより後のアカウントの変更もすべて元に戻り、すべてのセッションが終了します。',
    removes: 'パスワードは削除されます。新しいパスワードは、メールから設定できます。',
    done: '変更を元に戻しました',
    choose: (email) =>
      html`${email} にメールで送信したリンクから、新しいパスワードを設定してください。迷惑メールフォルダーもご確認ください。`,
    ended: 'すべてのセッションが終了しました。',
    password: '変更前のパスワード',
    passwordHint: '',
    code: '認証アプリのコードまたはリカバリーコード',
    codeHint: '変更前に使っていた認証アプリまたはリカバリーコードを使ってください。',
    submit: '変更を元に戻す',
    withPasskey: 'パスキーで元に戻す',
    nothing: 'ご自身による変更の場合は、何もする必要はありません。',
    otherBrowser: 'アカウントに記録されているブラウザーで、このリンクを開いてください',
    otherBrowserText:
      'このリンクは、すでにしばらく使っていたブラウザーでのみ使えます。このページのリンクをコピーして、そのブラウザーで開いてください。',
    tooNew: (since) =>
      html`このブラウザーは、変更の時点では使い始めてから間もないものでした。アカウントに記録されているのは ${since} からです。`,
    worksIn: 'このリンクを使えるブラウザー:',
    knownSince: (browser, since) => html`${browser} (${since} から記録)`,
    copyAddress: 'リンクをコピー',
    help: (support) =>
      support === null
        ? 'そのようなブラウザーがない場合は、このアプリの運営者にお問い合わせください。'
        : html`そのようなブラウザーがない場合のお問い合わせ先: ${support}`,
    noBrowser: 'このリンクを使えるブラウザーがありません',
    noBrowserText:
      '変更の時点で、このアカウントに十分長く使われていたブラウザーがありませんでした。そのため、サポートだけが元に戻せます。',
    helpWithout: (support) =>
      support === null ? 'このアプリの運営者にお問い合わせください。' : html`お問い合わせ先: ${support}`,
    changePassword: 'パスワードを変更',
    invalid: 'このリンクはもう使えません',
    invalidText: 'すでに使用されたか、有効期限が切れたか、変更がすでに元に戻されています。',
    invalidHelp: (support) =>
      support === null
        ? 'この変更に心当たりがない場合は、このアプリの運営者にお問い合わせください。'
        : html`この変更に心当たりがない場合のお問い合わせ先: ${support}`,
    deletion: {
      title: 'アカウントを復元',
      done: 'アカウントを復元しました',
      lead: 'アカウントを削除前の状態に復元できます。',
      password: 'パスワード',
      passwordHint: 'ご本人のアカウントであることを確認するためです。',
      codeHint: '',
      submit: 'アカウントを復元',
      withPasskey: 'パスキーで復元',
      nothing: 'アカウントを削除したままにする場合は、何もする必要はありません。',
    },
  },
  emailedSignIn: {
    title: 'コードを入力',
    lead: 'コードをメールで送信しました。コードをリクエストしたこのブラウザーで、ここに入力してください。',
    notAsked:
      'コードでログインするには、このブラウザーでコードをリクエストしてから、ここに入力してください。',
    sentTo: (email, digits, time, isCertain) =>
      isCertain
        ? html`${email} に ${digits} 桁のコードをメールで送信しました。コードの有効期間は ${time}です。迷惑メールフォルダーもご確認ください。`
        : html`${email} のアカウントがある場合は、${digits} 桁のコードを記載したメールを送信しました。コードの有効期間は ${time}です。迷惑メールフォルダーもご確認ください。`,
    submit: 'ログイン',
    linkTitle: 'ログイン',
    linkLead: (email) => `続行すると、${email} としてログインします。`,
    linkSubmit: 'ログイン',
    usedTitle: 'このリンクはもう使えません',
    used: 'すでに使用されたか、有効期限が切れています。',
    usedHere: (account) =>
      `すでに使用されたか、有効期限が切れています。${account} としてログインしています。`,
    elsewhereTitle: 'このメールは別のブラウザーでリクエストされました',
    elsewhere:
      'そのブラウザーに戻り、メールに記載されたコードを入力してください。アプリによっては、リンクが独自のブラウザーで開かれることがあります。',
    here: (email) => html`または、ここでログインできます。${email} に新しいコードをメールで送信します。`,
    hereSubmit: '代わりにここでログイン',
    notYou: 'このメールをリクエストしていない場合は、無視してかまいません。',
    createTitle: 'アカウントを作成',
    fields: (email) =>
      html`${spaced(email)}のアカウントはまだありません。作成するには、以下を入力してください。`,
    thisEmail: 'このメールアドレス',
    lostFields: (labels) =>
      `アカウントの作成時に入力した次の内容は保存されていません: ${labels.join('、')}。アカウントを作成する場合は、後でプロフィールに入力してください。`,
    again: '別のコードをメールで受け取る',
    other: '別のメールアドレスを使う',
  },

  security: {
    title: 'セキュリティ',
    change: '変更',
    show: '表示',
    manage: '管理',
    confirmEmail: {
      title: 'メールアドレスを確認',
      text: (email) =>
        `${email} がご自身のメールアドレスであることを確認してください。確認後は、2 段階認証をオンにしたり、パスキーを追加したりできます。`,
      first: '先にメールアドレスを確認してください。',
      wrong: 'メールアドレスが間違っていますか？',
      change: 'プロフィールで変更してください。',
      wrongAddress:
        'メールアドレスが間違っている場合は、ログアウトしてから、正しいメールアドレスでアカウントを作成し直してください。',
      startOver: 'ログアウトしてアカウントを作成し直す',
    },
    methods: {
      title: 'ログイン方法',
      passkeys: (count) => plural(count, { other: `パスキー ${count} 個` }),
      email: 'メールで届くコード',
      none: 'ログイン方法はまだありません。',
    },
    taskTitle: 'あと 1 ステップ',
    taskText: '続行する前に、このステップを完了してください。',
    password: {
      change: 'パスワードを変更',
      set: 'パスワードを設定',
      isSet: 'パスワードが設定されています。',
      none: 'アカウントにパスワードが設定されていません。',
      use: {
        email: '設定すると、メールアドレスとこのパスワードでもログインできます。',
        username: '設定すると、ユーザー名とこのパスワードでもログインできます。',
        either: '設定すると、メールアドレスまたはユーザー名とこのパスワードでもログインできます。',
      },
      missing: {
        email: (hasPassword) => unusable(hasPassword, 'メールアドレス'),
        username: (hasPassword) => unusable(hasPassword, 'ユーザー名'),
        either: (hasPassword) => unusable(hasPassword, 'メールアドレスまたはユーザー名'),
      },
      add: {
        email: 'メールアドレスを追加',
        username: 'ユーザー名を追加',
        either: 'メールアドレスまたはユーザー名を追加',
      },
      remove: 'パスワードを削除',
      removeText: '削除後は、他のログイン方法でログインします。',
      confirmRemove: 'はい、パスワードを削除します',
      ends: 'パスワードを変更すると、他のセッションは終了します。',
      demanded:
        '続行するには、新しいパスワードを設定してください。現在のパスワードも、最後にもう一度だけ入力してください。',
    },
    secondFactor: {
      title: '2 段階認証',
      off: 'オンにすると、盗まれたパスワードだけではログインできなくなります。',
      demanded: '認証アプリを設定するか、パスキーを追加してください。どちらか 1 つで十分です。',
      on: (totp, passkeys) =>
        totp && passkeys
          ? 'ログインするには、認証アプリのコードまたはパスキーが必要です。'
          : totp
            ? 'ログインするには、認証アプリのコードが必要です。'
            : 'ログインするには、パスキーが必要です。',
      codesLeft: (count) =>
        count === 0
          ? 'リカバリーコードが残っていません。新しいコードを作成してください。'
          : plural(count, { other: `リカバリーコードは残り ${count} 個です。` }),
      begin: '認証アプリを設定',
      replace: '別の認証アプリを設定',
      again: '新しい QR コードでやり直す',
      setUp: '認証アプリを設定',
      scanTitle: 'アプリにこのアカウントを追加',
      enterTitle: 'コードを入力',
      codesNext: '2 段階認証をオンにすると、次のページに表示されます。',
      cancel: 'キャンセル',
      scan: 'Google Authenticator、Microsoft Authenticator、1Password などの認証アプリで、このコードをスキャンしてください。',
      codeLabel: 'アプリのコード',
      qr: '認証アプリ用の QR コード',
      open: 'このデバイスの認証アプリを開く',
      manual: 'または、このキーをアプリに入力してください:',
      confirm: 'オンにする',
      codeHint: 'アプリに表示されている 6 桁の数字です。制限時間は 10 分です。',
      replaced:
        'この設定は別のタブで最初からやり直されました。新しい QR コードをスキャンして、そのコードを入力してください。',
      renew: '新しいリカバリーコードを作成',
      renewText: '現在のリカバリーコードは使えなくなります。',
      confirmRenew: 'はい、新しく作成します',
      disable: '認証アプリを削除',
      disableText: '削除後は、ログインに認証アプリのコードが必要なくなります。他のセッションは終了します。',
      disableLastText: '2 段階認証がオフになり、リカバリーコードが削除されます。他のセッションは終了します。',
      confirmDisable: 'はい、削除します',
      passkeysOn: 'パスキーを 2 段階目の認証に使う',
      passkeysOff: 'パスキーを 2 段階目の認証に使わない',
      trusted: (count) =>
        plural(count, { other: `${count} 個のブラウザーでは、パスワードだけでログインします。` }),
      askAgain: 'すべてのブラウザーで再び確認を求める',
      codes: 'リカバリーコードを保存',
      codesText:
        'スマートフォンやパスキーをなくした場合は、これらのコードのいずれかでログインしてください。各コードは 1 回だけ使えます。',
      codesOnce: '表示されるのは今回だけです。スマートフォン以外の場所に保存してください。',
      fileName: 'recovery-codes.txt',
      fileHeading: (appName, account) =>
        `${appName} のリカバリーコード${account === null ? '' : ` (${account})`}`,
      download: 'ダウンロード',
      print: '印刷',
      saved: '保存しました',
    },
    passkeys: {
      title: 'パスキー',
      text: 'パスキーを使うと、パスワードの代わりにデバイスの画面ロックでログインできます。',
      count: (count) => plural(count, { other: `パスキーが ${count} 個あります。` }),
      add: 'パスキーを追加',
      change: '変更',
      rename: '名前を変更',
      remove: '削除',
      removeText: '削除すると、このパスキーではログインできなくなります。',
      confirmRemove: 'はい、削除します',
      synced: '同期済み',
      added: (time) => html`${time} に追加されました。`,
      used: (time) => html`${time} に最後に使用されました。`,
      neverUsed: 'まだ使用されていません。',
      needsScript: 'パスキーを使うには、JavaScript と、パスキーに対応したブラウザーが必要です。',
    },
    linked: {
      title: '連携アカウント',
      none: '連携しているアカウントはありません。',
      since: (time) => html`${time} に連携されました。`,
      unlink: '連携を解除',
      unlinkText: (provider) => `解除すると、${provider} ではログインできなくなります。`,
      confirmUnlink: 'はい、解除します',
      link: (provider) => `${provider} と連携`,
      only: (provider) => `${provider} は、このアカウントにログインする唯一の方法です。`,
      // Each one is followed by "or do" or by "please do".
      addFirst: (added) =>
        added.length === 0
          ? '連携は解除できません。'
          : html`連携を解除するには、先に${added.map((one, index) => html`${index > 0 && 'するか、'}${one}`)}してください。`,
      added: {
        passkey: 'パスキーを追加',
        password: 'パスワードを設定',
        email: 'メールアドレスを追加',
        username: 'ユーザー名を追加',
        either: 'メールアドレスまたはユーザー名を追加',
        account: '別のアカウントと連携',
      },
    },
    changes: {
      title: '最近の変更',
      text: '過去 30 日間の変更です。',
      mailed: 'ご自身によるものでない変更がある場合は、その変更についてのメールのリンクを使ってください。',
      count: (count) => plural(count, { other: `過去 30 日間に ${count} 件の変更がありました。` }),
      none: '過去 30 日間に変更はありませんでした。',
      undoable: '元に戻せます',
      bySupport: 'サポートだけが元に戻せます',
    },
    browsers: {
      title: '使用したブラウザー',
      mailed: '別のブラウザーでログインがあると、メールが届きます。',
      count: (count) =>
        count === 0 ? 'まだありません。' : plural(count, { other: `ブラウザーが ${count} 個あります。` }),
      text: 'これらのブラウザーは、アカウントに記録されています。記録は、ログアウトした後も、パスワードを変更または削除するか、別のブラウザーで 2 段階認証をオンにするまで残ります。使わなくなったブラウザーは、記録を削除してください。そのブラウザーからログアウトするには、「セッション」を使ってください。',
      current: 'このブラウザー',
      seen: (first, last) => html`${first} に初めて、${last} に最後に使用されました。`,
      trusted: (until) => html`そのブラウザーでは、${until} まではパスワードだけでログインできます。`,
      forget: '記録を削除',
      forgetText:
        '次にそのブラウザーでログインすると、新しいブラウザーでのログインとして扱われます。そのブラウザーでログイン中の場合は、ログインしたままになります。',
      confirmForget: 'はい、削除します',
    },
  },
  account: {
    title: 'プロフィール',
    profile: '基本情報',
    save: '基本情報を保存',
    username: 'ユーザー名',
    saveUsername: 'ユーザー名を保存',
    email: 'メールアドレス',
    noEmail: 'このアカウントにはメールアドレスがありません。',
    verified: '確認済み',
    unverified: '未確認',
    verify: (isByCode) => `確認用${isByCode ? 'コード' : 'リンク'}をメールで受け取る`,
    pending: (email) => html`${email} に送信したリンクが開かれるのを待っています。`,
    emailAgain: 'もう一度メールで受け取る',
    cancelEmail: 'この変更をキャンセル',
    newEmailHint:
      '新しいメールアドレスにリンクを送信します。リンクを開き、そのページのボタンを押すと、メールアドレスが変更されます。その後、他のすべてのデバイスからログアウトされます。',
    changeEmail: 'メールアドレスを変更',
    firstEmail: 'メールアドレスを追加',
    firstEmailHint:
      'このメールアドレスにリンクを送信します。リンクを開くと、アカウントにこのメールアドレスが設定されます。',
    data: 'マイデータ',
    dataText: '保存されているご自身に関するすべての情報を、ファイルでダウンロードできます。',
    download: 'データをダウンロード',
    delete: 'アカウントを削除',
    opensDeletion: '削除',
    ofDeletion: 'アカウント',
    deleteNow: 'アカウントは、関連するすべてのデータとともにすぐに削除されます。この操作は元に戻せません。',
    deleteLater: (days) =>
      plural(days, {
        other: `すべてのセッションがすぐに終了し、アカウントは使えなくなります。${days} 日後に、アカウントは関連するすべてのデータとともに完全に削除されます。`,
      }),
    restore: 'それまでは、メールで送信するリンクから復元できます。',
    restoreByApp: 'それまでは、このアプリの運営者だけが復元できます。',
    confirmDelete: 'はい、削除します',
  },
  proof: {
    lead: 'セキュリティのため、この操作を行うには先に本人確認が必要です。',
    first: '本人確認を行う',
  },
  sessions: {
    title: 'セッション',
    lead: '以下のデバイスでログインしています。見覚えのないデバイスがある場合は、ここでそのセッションを終了してください。',
    browsers: (link) => html`ログアウト済みのブラウザーについては、「${link}」をご覧ください。`,
    current: 'このデバイス',
    unknownDevice: '不明なデバイス',
    acting: 'このアプリの運営者 (ユーザーと同じ画面を見るため)',
    ip: 'IP アドレス',
    active: '最終アクセス',
    created: 'ログイン',
    end: 'ログアウト',
    about: (device, created) => html`(${device}、ログイン: ${created})`,
    endOthers: '他の全デバイスからログアウト',
    endAll: 'はい、全デバイスからログアウトします',
    wantsEndAll: '全デバイスからログアウト',
    endAllText: 'このデバイスを含め、すべてのデバイスからログアウトされます。',
  },
  keys: {
    title: 'API キー',
    lead: 'プログラムは、API キーを使ってユーザーの代わりに操作を行います。',
    none: 'API キーはありません。',
    created: '作成',
    used: '最終使用',
    neverUsed: 'なし',
    expires: '有効期限',
    inDays: (days) => `${days} 日後`,
    neverExpires: 'なし',
    expired: '期限切れ',
    scopes: '権限',
    noScopes: 'ご自身のすべての権限',
    revoke: '無効にする',
    revokeText:
      'このキーを使っているプログラムは、すぐに動作しなくなります。無効にしたキーは元に戻せません。',
    confirmRevoke: 'はい、無効にします',
    about: (name, start) => `キー「${name}」、${start}`,
    make: 'API キーを作成',
    nameHint: '一覧に表示する名前です。プログラムの名前などを入力してください。',
    allRights: '制限しない限り、ご自身がこのアプリでできるすべてのことを、このキーでも行えます。',
    someRights: '以下のみ:',
    everything: 'このアプリでご自身ができるすべてのこと',
    everythingText:
      'この場合、キーを持つ人は誰でも、本人としてアプリを使えます。必要とするプログラムにのみ選択してください。',
    scopesHint:
      '権限の名前を、スペースまたはカンマで区切って入力してください。名前の一覧は、このアプリのドキュメントにあります。',
    submit: 'キーを作成',
    made: (name) => `新しいキー: ${name}`,
    madeText: '今すぐコピーしてください。再び表示されることはありません。',
  },
  roles: {
    owner: 'オーナー',
    admin: '管理者',
    member: 'メンバー',
  },
  organizations: {
    title: '組織',
    lead: '組織は、このアプリでデータを共有する人々のグループです。',
    none: 'メンバーになっている組織はありません。',
    next: 'これより前の組織',
    create: '組織を作成',
    submitCreate: '作成',
    slug: '短縮名',
    ownSlug: 'URL 用の短縮名を指定',
    newSlugHint:
      'URL に使います (例: acme-2)。英小文字、数字、ハイフンを使えます。空欄の場合は、名前から作成されます。',
  },
  organization: {
    ownRole: '自分のロール',
    change: '名前を変更',
    save: '保存',
    slugHint:
      'URL に使います (例: acme-2)。英小文字、数字、ハイフンを使えます。変更すると、この組織への既存のリンクが使えなくなることがあります。',
    members: 'メンバー',
    nextMembers: 'これより前のメンバー',
    you: '自分',
    since: (date) => html`${date} からメンバー`,
    changeMember: '変更',
    role: 'ロール',
    setRole: 'ロールを変更',
    of: (name) => `(${name})`,
    remove: '削除',
    removeText: 'このユーザーは、すぐに組織にアクセスできなくなります。',
    confirmRemove: 'はい、削除します',
    invitations: '招待',
    nextInvitations: 'これより前の招待',
    expires: (time) => html`有効期限: ${time}`,
    revoke: '取り消す',
    invitationOf: (email) => `${email} への招待`,
    revokeText: 'メールのリンクは使えなくなります。',
    confirmRevoke: 'はい、取り消します',
    invite: 'メンバーを招待',
    inviteHint:
      'このメールアドレスでのみ使えるリンクをメールで送信します。同じメールアドレスをもう一度招待すると、以前のリンクは使えなくなります。',
    submitInvite: '招待',
    leaveTitle: '組織から退出',
    leaveText: 'すぐに組織にアクセスできなくなります。',
    lastOwner: 'オーナーはご自身だけです。退出するには、先に別のメンバーをオーナーにしてください。',
    leave: '退出',
    confirmLeave: 'はい、退出します',
    deleteTitle: '組織を削除',
    deleteText:
      '組織は、関連するすべてのデータとともに、すべてのメンバーに対してすぐに削除されます。この操作は元に戻せません。',
    delete: '削除',
    confirmDelete: 'はい、削除します',
  },
  changes: {
    'account-deleted': 'アカウントが削除されました',
    'account-recovered': '変更が元に戻されました',
    'administrator-added': 'アカウントが管理者になりました',
    'administrator-acted': 'このアプリの運営者がアカウントを開きました',
    'api-key-created': 'API キーが作成されました',
    'data-exported': 'アカウントのデータがダウンロードされました',
    'device-forgotten': 'ブラウザーの記録が削除されました',
    'email-change-requested': '新しいメールアドレスへの変更がリクエストされました',
    'email-changed': 'メールアドレスが変更されました',
    'new-device': '新しいブラウザーでログインがありました',
    'new-password-required': '新しいパスワードの設定が必須になりました',
    'organization-owner-added': 'メンバーが組織のオーナーになりました',
    'passkey-added': 'パスキーが追加されました',
    'passkey-removed': 'パスキーが削除されました',
    'password-changed': 'パスワードが変更されました',
    'password-removed': 'パスワードが削除されました',
    'password-set': 'パスワードが設定されました',
    'provider-linked': 'アカウントが連携されました',
    'provider-unlinked': 'アカウントの連携が解除されました',
    'recovery-code-used': 'リカバリーコードが使用されました',
    'recovery-codes-renewed': '新しいリカバリーコードが作成されました',
    'second-factor-attempts': '間違ったコードが入力されました',
    'second-factor-disabled': '2 段階認証がオフになりました',
    'second-factor-enabled': '2 段階認証がオンになりました',
    'username-changed': 'ユーザー名が変更されました',
  },

  users: {
    title: 'ユーザー',
    search: '検索',
    searchHint: 'メールアドレスまたはユーザー名の一部。それ以外は検索されません。',
    submitSearch: '検索',
    none: 'ユーザーが見つかりません。',
    noneFor: (searched) => `「${searched}」を含むメールアドレスやユーザー名はありません。`,
    noneYet: 'これまでの検索では、ユーザーが見つかっていません。',
    continueSearch: '検索を続ける',
    next: '次のページ',
    all: 'すべてのユーザーを表示',
    user: 'ユーザー',
    state: '状態',
    active: '有効',
    created: '作成日',
    tags: {
      own: '自分',
      closed: '削除待ち',
      suspended: '利用停止中',
      unverified: 'メールアドレス未確認',
    },
    create: 'ユーザーを作成',
    submitCreate: 'ユーザーを作成',
    invites: 'ユーザーには、パスワードを設定するためのリンクがメールで届きます。',
    either: (invites) =>
      `ユーザーには、メールアドレス、ユーザー名、またはその両方が必要です。${invites ? 'メールアドレスがないと、ユーザーはパスワードを設定できません。サーバーの運営者に設定を依頼してください。' : ''}`,
  },
  user: {
    account: 'アカウント',
    profile: 'プロフィール',
    signIn: 'ログイン',
    verified: 'メールアドレス確認済み',
    created: '作成日時',
    state: '状態',
    active: '有効',
    own: 'これは自分のアカウントです。',
    closedSince: (time) => html`${time} に削除がリクエストされました。`,
    restorableUntil: (time) =>
      html`${time} までは、アカウントを復元できます。削除についてのメールがある場合はそのリンクから、またはコマンド <code>npx latchkey users restore</code> で復元します。`,
    suspendedSince: (time, until) =>
      until === null ? html`${time} から利用停止中です。` : html`${time} から ${until} まで利用停止中です。`,
    reason: '理由',
    reasonHint: '管理者用のメモです。ユーザーには表示されません。',
    until: '終了日時',
    untilHint: '空欄の場合、利用停止は解除するまで続きます。',
    emailedCode: 'メールによるログイン',
    secondFactor: '2 段階認証',
    on: 'オン',
    off: 'オフ',
    totp: '認証アプリ',
    recoveryCodes: 'リカバリーコードの残り',
    passkeys: 'パスキー',
    providers: '連携アカウント',
    none: 'なし',
    edit: '編集',
    save: '保存',
    actions: '操作',
    roles: 'ロール',
    rolesText: 'ユーザーに許可されていることです。',
    changeRoles: '変更',
    ofRoles: 'ロール',
    saveRoles: '保存',
    fixedRoles: '一部のロールは、自分に許可されている範囲を超えるため、変更できません。',
    acting: 'このユーザーとして代理ログイン',
    act: '代理ログイン',
    ofActing: 'このユーザー',
    confirmAct: 'はい、代理ログインします',
    actText:
      'アプリがユーザーに見えるとおりに表示され、変更は一切できません。自分のアカウントからはログアウトされ、ユーザーには通知されます。',
    actingSession: 'ユーザーとして代理ログイン中の管理者',
    suspension: '利用停止',
    suspend: '利用を停止',
    ofSuspension: 'ユーザー',
    confirmSuspend: 'はい、停止します',
    suspendText: 'ユーザーのすべてのセッションが終了します。その後、ユーザーはログインできなくなります。',
    reinstate: '利用停止を解除',
    reinstateText: '解除すると、ユーザーは再びログインできます。',
    passwordLink: 'メールでの新しいパスワードの設定',
    sendPasswordReset: '再設定用リンクを送信',
    sendPasswordResetText: 'ユーザーにメールが届きます。リンクが使われるまでは、現在のパスワードを使えます。',
    sendFirstPassword: '設定用リンクを送信',
    sendFirstPasswordText:
      'ユーザーにはパスワードがありません。パスワードを設定するためのリンクがメールで届きます。',
    newPassword: '次回ログイン時の新しいパスワードの設定',
    requireNewPassword: '必須にする',
    ofNewPassword: '新しいパスワード',
    confirmRequireNewPassword: 'はい、必須にします',
    requireNewPasswordText:
      'ユーザーのすべてのセッションが終了し、ユーザーは現在のパスワードを新しいものに変更する必要があります。',
    disableSecondFactor: 'オフにする',
    ofSecondFactor: '2 段階認証',
    confirmDisableSecondFactor: 'はい、オフにします',
    disableSecondFactorText:
      '認証アプリ、パスキー、リカバリーコードをなくしたユーザーのための操作です。ユーザーのすべてのセッションが終了します。',
    deletion: '削除',
    delete: '削除',
    ofDeletion: 'ユーザー',
    confirmDelete: 'はい、削除します',
    deleteText:
      'ユーザーは、アカウントに関連するすべてのデータとともに削除されます。この操作は元に戻せません。',
    closeText: (days) =>
      plural(days, {
        other: `その後、アカウントは使えなくなります。${days} 日後に、アカウントは完全に削除されます。それまでは、コマンド npx latchkey users restore で復元できます。`,
      }),
    sessions: 'セッション',
    noSessions: 'ユーザーのセッションはありません。',
    unknownDevice: '不明なデバイス',
    signedIn: (time) => html`ログイン: ${time}`,
    lastActive: (time) => html`最終アクセス: ${time}`,
    endSession: '終了',
    endSessions: 'すべてのセッションを終了',
    endSessionsText: 'ユーザーは、すべてのデバイスからログアウトされます。',
    confirmEndSessions: 'はい、すべて終了します',
    events: '最近のイベント',
    noEvents: 'イベントはありません。',
    eventNames: {
      'account.linked': 'アカウントが連携されました',
      'account.recovered': '変更が元に戻されました',
      'account.unlinked': 'アカウントの連携が解除されました',
      'admin.acting_started': '管理者がユーザーとしての代理ログインを開始しました',
      'admin.password_reset_sent': '管理者が新しいパスワード用のリンクを送信しました',
      'admin.session_revoked': '管理者がセッションを終了しました',
      'admin.sessions_revoked': '管理者がすべてのセッションを終了しました',
      'admin.user_created': '管理者がアカウントを作成しました',
      'admin.user_deleted': '管理者がアカウントを削除しました',
      'admin.user_updated': '管理者がアカウントを変更しました',
      'api_key.created': 'API キーが作成されました',
      'api_key.revoked': 'API キーが無効にされました',
      'device.trusted': 'ブラウザーが信頼されました',
      'organization.created': '組織が作成されました',
      'organization.deleted': '組織が削除されました',
      'organization.invitation_created': '組織への招待が作成されました',
      'organization.invitation_revoked': '組織への招待が取り消されました',
      'organization.member_added': 'ユーザーが組織のメンバーになりました',
      'organization.member_removed': 'ユーザーが組織のメンバーではなくなりました',
      'organization.member_role_changed': '組織でのロールが変更されました',
      'organization.updated': '組織が変更されました',
      'passkey.added': 'パスキーが追加されました',
      'passkey.removed': 'パスキーが削除されました',
      'password.changed': 'パスワードが変更されました',
      'password.new_required': '新しいパスワードの設定が必須になりました',
      'password.removed': 'パスワードが削除されました',
      'password.reset': 'メールのリンクからパスワードが再設定されました',
      'rate_limit.refused': 'リクエストが多すぎたため、拒否されました',
      'mail.held': '未確認のメールアドレス宛てのメールが多すぎたため、送信を保留しています',
      'recovery_code.used': 'リカバリーコードが使用されました',
      'second_factor.disabled': '2 段階認証がオフになりました',
      'second_factor.enabled': '2 段階認証がオンになりました',
      'session.created': 'ユーザーがログインしました',
      'session.reauthenticated': 'ユーザーが本人確認を行いました',
      'session.revoked': 'セッションが終了しました',
      'sign_in.failed': 'ログインに失敗しました',
      'sign_in.throttled': '間違った試行が多すぎたため、ログインが一時停止されました',
      'tokens.read': '連携アカウントのトークンが読み取られました',
      'tokens.refreshed': '連携アカウントのトークンが更新されました',
      'user.created': 'アカウントが作成されました',
      'user.deleted': 'アカウントが削除されました',
      'user.deletion_requested': 'アカウントの削除がリクエストされました',
      'user.email_changed': 'メールアドレスが変更されました',
      'user.email_verified': 'メールアドレスが確認されました',
      'user.exported': 'アカウントのデータがダウンロードされました',
      'user.reinstated': '利用停止が解除されました',
      'user.restored': 'アカウントが復元されました',
      'user.roles_changed': 'ロールが変更されました',
      'user.suspended': 'ユーザーの利用が停止されました',
      'user.updated': 'プロフィールが変更されました',
    },
  },

  refusal: {
    back: (appName) => `${appName} に戻る`,
    notSaved: '入力した内容は保存されませんでした。',
    signedInAs: (account) => `${account} としてログインしています。`,
    other: '別のアカウントでログイン',
    stopActing: '代理ログインを終了',
    titlesOf: {
      acting_session: '現在このページは利用できません',
      admin_required: 'アクセス権がありません',
    },
    titles: {
      400: 'この URL は無効です',
      401: 'ログアウトされました',
      403: 'この操作はできません',
      404: 'ページが見つかりません',
      405: 'この操作はできません',
      413: 'リクエストが大きすぎます',
      429: '試行回数が多すぎます',
      503: '少し待ってからもう一度お試しください',
    },
    wait: (words) => `${words}後にもう一度お試しください。`,
  },
  needed: {
    'second-factor-needed': '開いたページには 2 段階認証が必要です。続行するには、設定してください。',
    'password-dropped':
      'このアカウントのパスワードは、メールアドレスの確認前に設定されたものだったため、削除しました。このページで新しいパスワードを設定できます。',
    'recovery-code-used':
      'リカバリーコードでログインしました。そのコードはもう使えません。スマートフォンをなくした場合は、別のスマートフォンで認証アプリを設定してください。リカバリーコードの残りの数も、このページで確認できます。',
    'session-over': 'セッションが終了しました。もう一度ログインしてください。',
    'set-up-expired':
      '時間がかかりすぎたか、設定がすでに完了しています。認証アプリをもう一度設定してください。',
  },
  created: {
    welcome: (account) =>
      account === null
        ? 'ようこそ。新しいアカウントを作成しました。'
        : `ようこそ。${account} の新しいアカウントを作成しました。`,
    hint: (signOut) =>
      html`既存のアカウントにログインするつもりだった場合は、${signOut}して、別のメールアドレスでログインしてください。`,
    signOut: 'ログアウト',
  },
  done: {
    'signed-out': 'ログアウトしました。',
    'password-reset': 'パスワードを変更しました。新しいパスワードでログインしてください。',
    'invitation-accepted': 'アカウントの準備ができました。ログインしてください。',
    'signed-up': 'アカウントを作成しました。ログインしてください。',
    'signed-up-to-confirm':
      'アカウントを作成しました。ログインすると、メールアドレスを確認するためのコードをメールで送信します。',
    'account-deleted': 'アカウントを削除しました。',
    'signed-out-everywhere': 'すべてのデバイスからログアウトしました。',
    sent: 'メールを送信しました。',
    'password-changed': 'パスワードを変更しました。他のすべてのデバイスからログアウトしました。',
    'password-set': 'アカウントにパスワードを設定しました。',
    'password-removed': 'パスワードを削除しました。他のすべてのデバイスからログアウトしました。',
    'second-factor-on': '2 段階認証がオンになりました。他のすべてのデバイスからログアウトしました。',
    'second-factor-off': '2 段階認証がオフになりました。',
    'app-removed': '認証アプリを削除しました。',
    'passkeys-off':
      'パスキーは 2 段階目の認証に使われなくなりました。他のすべてのデバイスからログアウトしました。',
    'codes-renewed': '新しいリカバリーコードを作成しました。以前のコードはもう使えません。',
    'passkey-added': 'パスキーを追加しました。',
    'passkey-removed': 'パスキーを削除しました。デバイスからも削除してください。',
    linked: 'アカウントを連携しました。',
    unlinked: 'アカウントの連携を解除しました。',
    'browser-forgotten': 'ブラウザーの記録を削除しました。',
    'browsers-not-trusted': '今後は、ログインのたびに 2 段階目の認証が再び必要になります。',
    saved: '変更を保存しました。',
    'details-saved': '基本情報を保存しました。',
    'username-saved': 'ユーザー名を保存しました。',
    'email-change-sent':
      '新しいメールアドレスに、リンクを記載したメールを送信しました。1 時間以内にリンクを開き、そのページのボタンを押してください。迷惑メールフォルダーもご確認ください。',
    'email-change-canceled': 'メールアドレスの変更をキャンセルしました。メールのリンクはもう使えません。',
    'session-ended': 'セッションが終了しました。',
    'other-sessions-ended': '他のすべてのセッションが終了しました。',
    'api-key-revoked': 'キーを無効にしました。',
    'organization-created': '組織を作成し、そのオーナーになりました。',
    'organization-saved': '変更を保存しました。',
    'member-role-changed': 'ロールを変更しました。',
    'member-removed': 'メンバーを削除しました。',
    'organization-left': 'この組織のメンバーではなくなりました。',
    'member-invited': '招待をメールで送信しました。',
    'organization-invitation-revoked': '招待を取り消しました。招待のリンクはもう使えません。',
    'organization-deleted': '組織を削除しました。',
    'user-created': 'ユーザーを作成しました。',
    'user-invited':
      'ユーザーを作成しました。ユーザーには、パスワードを設定するためのリンクがメールで届きます。',
    'user-changed': '変更を保存しました。',
    'user-roles-changed': 'ロールを変更しました。',
    'user-suspended': 'ユーザーの利用を停止しました。',
    'user-reinstated': '利用停止を解除しました。',
    'user-closed': 'アカウントは使えなくなりました。今後、完全に削除されます。',
    'user-deleted': 'ユーザーを削除しました。',
    'new-password-required': 'ユーザーは新しいパスワードを設定する必要があります。',
    'second-factor-disabled': 'ユーザーの 2 段階認証をオフにしました。',
    'sessions-ended': 'ユーザーのすべてのセッションが終了しました。',
  },

  errorTitle: (title) => `エラー: ${title}`,
  errorHeading: '問題があります',
  codeOver,

  errors: {
    account_deleted:
      'このアカウントは削除されました。しばらくの間は復元できます。削除についてのメールがある場合はそのリンクから復元するか、このアプリの運営者に復元を依頼してください。',
    account_exists:
      'このメールアドレスのアカウントがすでにあります。そのアカウントにログインしてから、「セキュリティ」でこのサービスと連携してください。',
    account_in_use: '他のデータがこのアカウントに依存しているため、まだ削除できません。',
    account_linked_elsewhere:
      'このアカウントは、このアプリの別のアカウントへのログインにすでに使われています。このアカウントでログインするか、別のアカウントを使ってください。',
    account_not_linked: 'このアカウントは連携されていません。すでに連携が解除された可能性があります。',
    account_suspended: 'このアカウントは利用停止中です。このサービスの運営者にお問い合わせください。',
    access_denied:
      '外部サービスでのログインをキャンセルしました。もう一度試すか、別の方法でログインできます。',
    acting_session: 'このユーザーとして代理ログイン中のため、アプリのページの閲覧だけができます。',
    admin_required: 'このページを開けるのは管理者だけです。',
    already_member: 'このユーザーはすでにメンバーです。',
    ambiguous_credentials: unexpected,
    api_key_not_found: 'このキーは存在しません。すでに無効にされた可能性があります。',
    body_too_large: '入力内容がこのフォームの上限を超えています。短くして、もう一度お試しください。',
    body_too_slow: '接続が遅すぎました。もう一度お試しください。',
    code_expired: 'このコードは、ここではもう使えません。別のコードをリクエストしてください。',
    device_not_found: 'このブラウザーはアカウントに記録されていません。すでに削除された可能性があります。',
    email_code_not_offered: 'ここではコードをメールで送信できません。別の方法で本人確認を行ってください。',
    email_missing: 'このユーザーには、リンクの送信先となるメールアドレスがありません。',
    email_not_verified: '先にメールアドレスを確認してください。',
    email_taken: 'このメールアドレスは、別のアカウントで使われています。',
    email_unproven: 'このユーザーのメールアドレスは未確認のため、別人の可能性があります。',
    human_check_failed: '人による送信であることを確認できませんでした。もう一度お試しください。',
    'human_check_failed/no-script':
      '人による送信であることを確認できませんでした。JavaScript を有効にし、このページを再読み込みして、もう一度お試しください。',
    insufficient_scope: unexpected,
    invitation_for_other_email:
      'この招待は別のメールアドレス宛てです。ログアウトしてから、メールのリンクをもう一度開いてください。',
    invitation_not_found: 'この招待は存在しません。すでに承諾されたか、取り消された可能性があります。',
    invalid_api_key: unexpected,
    invalid_callback_url: unexpected,
    invalid_code: 'コードが間違っているか、すでに使用されています。確認して、もう一度お試しください。',
    invalid_credentials: 'メールアドレスまたはパスワードが間違っています。',
    invalid_flow:
      '外部サービスでのログインに時間がかかりすぎたか、別のブラウザーで開始されました。もう一度お試しください。',
    invalid_json: unexpected,
    invalid_passkey: 'パスキーが受け付けられませんでした。もう一度お試しください。',
    invalid_request: unexpected,
    invalid_session: 'ログアウトされました。続行するには、もう一度ログインしてください。',
    invalid_token: 'このリンクはもう使えません。すでに使用されたか、有効期限が切れています。',
    last_owner:
      '組織には、アカウントが有効なオーナーが必要です。先に別のメンバーをオーナーにするか、組織を削除してください。',
    last_sign_in_method:
      'これは、このアカウントにログインする唯一の方法です。先に別の方法を追加してください。',
    mail_refused: 'このメールアドレスはメールを受け付けません。入力ミスがないか確認してください。',
    member_not_found: 'このユーザーはメンバーではありません。すでにメンバーから外れた可能性があります。',
    method_not_allowed: unexpected,
    new_password_required:
      'このアカウントには新しいパスワードが必要です。メールで送信したリンクを開いてください。',
    no_passkey: 'パスキーがまだありません。先に追加してください。',
    organization_full: '組織のメンバー数が上限に達しています。',
    organization_in_use: '他のデータがこの組織に依存しているため、まだ削除できません。',
    organization_not_found: 'この組織は存在しないか、この組織のメンバーではありません。',
    origin_not_allowed:
      'このフォームは、別のウェブサイト、またはこのアプリの通常の URL ではない場所から送信されました。通常の URL でアプリを開いて、もう一度お試しください。',
    other_browser:
      'このメールは別のブラウザーでリクエストされました。そのブラウザーで、メールに記載されたコードを入力してください。リクエストしていない場合は、このメールを無視してください。',
    own_account: 'これは自分のアカウントです。別の管理者に操作を依頼してください。',
    passkey_exists:
      'このパスキーはすでに使用されています。別のデバイスを使うか、このパスキーでログインしてください。',
    passkey_not_found: 'このパスキーは存在しません。すでに削除された可能性があります。',
    password_already_set:
      'アカウントにはすでにパスワードが設定されています。代わりに、パスワードを変更できます。',
    password_not_set: 'アカウントにパスワードが設定されていません。',
    proof_required: '変更前にご自身のアカウントだったことを示すには、さらに情報が必要です。',
    provider_already_linked:
      'このサービスの別のアカウントがすでに連携されています。先にその連携を解除してください。',
    provider_error:
      '外部サービスから予期しない応答がありました。もう一度試すか、別の方法でログインしてください。',
    permission_required: 'この操作は許可されていません。管理者に依頼してください。',
    provider_not_found: 'このサービスは利用できません。別の方法でログインしてください。',
    provider_slow: '外部サービスの応答に通常より時間がかかっています。数秒後にもう一度お試しください。',
    rate_limited: `試行回数が多すぎます。${later}`,
    /** An email that is asked for once more: the one before still works. */
    'rate_limited/again':
      '現在、このメールを再送信できません。すでに届いている中で最も新しいメールを使ってください。',
    reauthentication_required:
      'ログインしてから時間が経っています。本人確認を行ってから、もう一度お試しください。',
    refresh_token_missing: 'このアカウントをもう一度連携する必要があります。',
    relink_required: 'このアカウントをもう一度連携する必要があります。',
    scope_required: unexpected,
    second_factor_demanded:
      'アカウントには 2 段階認証が必要です。先に別の認証アプリまたはパスキーを設定してください。',
    second_factor_required:
      'この操作には 2 段階認証が必要です。本人確認を行ってから、もう一度お試しください。',
    session_not_found: 'このセッションはすでに終了しています。',
    session_required: unexpected,
    sign_in_expired:
      '有効期限が切れたか、すでに完了しているか、間違ったコードが何度も入力されました。最初からやり直してください。',
    sign_up_incomplete: 'アカウントに必要な情報の一部が、外部サービスから提供されませんでした。',
    sign_up_refused:
      'ここではアカウントを作成できません。アカウントが必要な場合は、このアプリの運営者に依頼してください。',
    target_is_administrator:
      'このユーザーは管理者のため、ここではこの操作はできません。このアプリの運営者に依頼してください。',
    slug_taken: 'この短縮名は別の組織で使われています。別の短縮名を選んでください。',
    task_required: 'この操作を行うには、あと 1 ステップ必要です。',
    too_many_api_keys: 'キーの数が上限に達しています。不要になったキーを無効にしてください。',
    too_many_invitations:
      '組織の招待の数が上限に達しています。招待を取り消すか、承諾されるまでお待ちください。',
    too_many_organizations:
      'オーナーになっている組織の数が上限に達しています。組織を削除するか、別の人をオーナーにしてください。',
    too_many_passkeys: 'パスキーの数が上限に達しています。使わなくなったパスキーを削除してください。',
    totp_not_enabled: '2 段階認証はオフです。先にオンにしてください。',
    unauthenticated: 'ログアウトされました。続行するには、もう一度ログインしてください。',
    unavailable: '現在この操作はできません。',
    unknown_passkey:
      'このパスキーのアカウントはありません。別の方法でログインし、デバイスからこのパスキーを削除してください。',
    unsupported_media_type: unexpected,
    user_not_found: 'このユーザーは存在しません。',
    username_taken: 'このユーザー名はすでに使われています。別のユーザー名を選んでください。',
    validation_failed: '入力内容を確認してください。',
  },

  errorsAt: {
    access_denied: (provider) =>
      `${provider} でキャンセルしました。もう一度試すか、別の方法でログインしてください。`,
    account_exists: (provider) =>
      `${provider} アカウントのメールアドレスを使うアカウントがすでにあります。そのアカウントにログインしてから、「セキュリティ」で ${provider} と連携してください。`,
    invalid_flow: (provider) =>
      `${provider} でのログインに時間がかかりすぎたか、別のブラウザーで開始されました。もう一度お試しください。`,
    provider_error: (provider) =>
      `${provider} から予期しない応答がありました。もう一度試すか、別の方法でログインしてください。`,
    provider_slow: (provider) =>
      `${provider} の応答に通常より時間がかかっています。数秒後にもう一度お試しください。`,
    sign_up_incomplete: (provider, page) =>
      `アカウントに必要な情報の一部が、${provider} から提供されませんでした。${page === 'sign-up' ? '代わりにフォームに入力してください。' : ''}`,
  },

  later,

  errorsOf: {
    account: { invalid_credentials: '現在のパスワードと異なります。' },
    'account/delete': {
      last_owner:
        'ほかのメンバーがいる組織の、唯一のオーナーです。先に別のメンバーをオーナーにするか、組織を削除してください。何も削除されていません。',
    },
    'account/api-keys': { invalid_credentials: '現在のパスワードと異なります。' },
    'account/api-keys/create': {
      '/expires_at': '明日以降の日付を選択してください。',
      '/name': '100 文字以内の名前を入力してください。',
      '/scopes':
        'このアプリのドキュメントにある権限の名前を、スペースまたはカンマで区切って入力してください。',
    },
    'account/organizations/create': {
      admin_required: '組織を作成できるのは管理者だけです。',
      email_not_verified: '先にメールアドレスを確認してください。確認後、組織を作成できます。',
      '/name': '100 文字以内の名前を入力してください。',
      '/slug': wrongSlug,
    },
    'account/organizations/organization': {
      invalid_credentials: '現在のパスワードと異なります。',
      last_owner:
        'この組織に、有効なアカウントを持つオーナーがいなくなります。先に別のメンバーをオーナーにしてください。何も変更されていません。',
      permission_required:
        '現在のロールでは、この操作は許可されていません。組織のオーナーに依頼してください。',
    },
    'account/organizations/organization/invite': {
      permission_required: '現在のロールでは、このロールのメンバーを招待できません。',
      '/role': unknownRole,
    },
    'account/organizations/organization/remove/:userId': {
      permission_required: '現在のロールでは、このメンバーを削除できません。',
    },
    'account/organizations/organization/rename': {
      '/name': '100 文字以内の名前を入力してください。',
      '/slug': wrongSlug,
    },
    'account/organizations/organization/set-role/:userId': {
      permission_required: '現在のロールでは、このロールを付与したり外したりできません。',
      '/role': unknownRole,
    },
    'account/security': {
      access_denied: '外部サービスでキャンセルしたため、アカウントは連携されませんでした。',
      email_not_verified:
        '先にメールアドレスを確認してください。確認後は、2 段階認証をオンにしたり、パスキーを追加したりできます。',
      invalid_credentials: '現在のパスワードと異なります。',
    },
    'account/security/second-factor/confirm-app': {
      invalid_code:
        '現在アプリに表示されているコードと異なります。次のコードを待って、そのコードを入力してください。',
    },
    'administration/users/create': {
      email_taken: 'このメールアドレスのユーザーがすでにいます。',
      username_taken: 'このユーザー名のユーザーがすでにいます。',
      '/email/required/either': 'メールアドレスまたはユーザー名を入力してください。',
      '/email/required/username': 'メールアドレスまたはユーザー名を入力してください。',
    },
    'administration/users/user/roles': {
      permission_required: '変更したロールには、自分に許可されている範囲を超えるものがあります。',
      '/roles':
        'この一覧からロールを選択してください。一覧が変更された可能性があるため、このページを開き直してください。',
    },
    'administration/users/user/edit': {
      username_taken: 'このユーザー名は、別のユーザーが使っています。',
    },
    'administration/users/user/suspend': { '/until': '未来の日時を選択してください。' },
    'change-email/confirm': {
      email_taken: 'このメールアドレスは、すでに別のアカウントで使われています。',
      invalid_credentials: 'このアカウントのパスワードと異なります。',
      'unauthenticated/password':
        'このアカウントのパスワードを入力するか、ログイン中のブラウザーでこのリンクを開いてください。',
    },
    join: {
      account_exists:
        'このメールアドレスのアカウントがあります。そのアカウントにログインしてから、参加してください。',
      invalid_token:
        'この招待は、すでに使用されたか、置き換えられたか、取り消されたか、有効期限が切れています。',
      sign_up_refused:
        'ここではアカウントを作成できません。アカウントが必要な場合は、このアプリの運営者に依頼してください。',
    },
    invitation: { invalid_token: 'この招待は、すでに使用されたか、有効期限が切れています。' },
    'reauthenticate/confirm': {
      'invalid_code/code': wrongTotp,
      invalid_credentials: '現在のパスワードと異なります。',
      sign_in_expired: codeOver,
    },
    /** The page about a rejected request, whose title says what has happened. */
    refusal: {
      invalid_session: '続行するには、もう一度ログインしてください。',
      unauthenticated: '続行するには、もう一度ログインしてください。',
      invalid_request: '',
    },
    'reset-password/set': {
      '/code': 'コードを入力してください。',
      code_expired: codeOver,
      invalid_code: 'コードが間違っています。最新のメールで確認して、もう一度お試しください。',
    },
    'second-factor/confirm': {
      'invalid_code/totp': wrongTotp,
      sign_in_expired:
        'このログインの有効期限が切れたか、間違ったコードが何度も入力されました。もう一度ログインしてください。',
      'sign_in_expired/email_code':
        'このログインの有効期限が切れたか、間違ったコードが何度も入力されました。新しいコードを受け取るには、もう一度ログインしてください。',
      invalid_credentials:
        'コードが間違っているか、すでに使用されています。確認して、もう一度お試しください。',
    },
    'sign-in/email/confirm': {
      '/code': 'コードを入力してください。',
      invalid_code: 'コードが間違っています。最新のメールで確認して、もう一度お試しください。',
      sign_in_expired: codeOver,
    },
    'sign-in/password': {
      'invalid_credentials/either': 'メールアドレス、ユーザー名、またはパスワードが間違っています。',
      'invalid_credentials/username': 'ユーザー名またはパスワードが間違っています。',
      'invalid_credentials/email/concealed': `メールアドレスまたはパスワードが間違っている${unconfirmed}`,
      'invalid_credentials/either/concealed': `メールアドレス、ユーザー名、またはパスワードが間違っている${unconfirmed}`,
    },
    'sign-in/send-code': {
      '/email': 'コードを受け取るには、メールアドレスを入力してください (例: ada@example.com)。',
    },
    'sign-in': {
      invalid_passkey: 'パスキーが受け付けられませんでした。もう一度試すか、別の方法でログインしてください。',
    },
    'sign-up': {
      sign_up_incomplete:
        'アカウントに必要な情報の一部が、外部サービスから提供されませんでした。代わりにフォームに入力してください。',
    },
    'sign-up/password': {
      email_taken: 'このメールアドレスのアカウントがすでにあります。',
      '/email/required/either': 'メールアドレス、ユーザー名、またはその両方を入力してください。',
    },
    'undo-change/confirm': {
      'invalid_code/code':
        'コードが間違っているか、すでに使用されています。変更前に使っていたアプリに次のコードが表示されるまでお待ちください。',
      'invalid_code/recovery_code':
        'リカバリーコードが間違っているか、すでに使用されています。変更前に持っていたコードを入力してください。',
      invalid_credentials: '変更前のパスワードと異なります。',
      'invalid_code/account-deleted/code': wrongTotp,
      'invalid_code/account-deleted/recovery_code':
        'リカバリーコードが間違っているか、すでに使用されています。別のコードを入力してください。',
      'invalid_credentials/account-deleted/password': 'このアカウントのパスワードと異なります。',
      'proof_required/account-deleted/password': ownPassword,
      'proof_required/code': '認証アプリのコードまたはリカバリーコードを入力してください。',
      'proof_required/password': 'この変更の前にアカウントに設定されていたパスワードを入力してください。',
    },
    'verify-email/confirm': {
      invalid_code: 'コードが間違っています。最新のメールで確認して、もう一度お試しください。',
      invalid_credentials: 'このアカウントのパスワードと異なります。',
      'unauthenticated/password': ownPassword,
    },
  },

  missing: {
    code: 'コードを入力してください。',
    confirmation: '確認のため入力してください。何も削除されていません。',
    credential: 'メールアドレスまたはユーザー名を入力してください。',
    'credential/email': 'メールアドレスを入力してください。',
    'credential/username': 'ユーザー名を入力してください。',
    email: 'メールアドレスを入力してください。',
    email_code: 'コードを入力してください。',
    name: '名前を入力してください。',
    new_email: '新しいメールアドレスを入力してください。',
    slug: '短縮名を入力してください。',
    new_password: '新しいパスワードを入力してください。',
    password: 'パスワードを入力してください。',
    recovery_code: 'リカバリーコードを入力してください。',
    scopes: '権限を 1 つ以上選択してください。',
    username: 'ユーザー名を入力してください。',
  },

  wrongFormat: (label, hint) => `「${label}」の形式を確認してください。${hint ?? ''}`,
  notChosen: 'いずれかを選択してください。',

  wholeLink: 'リンクが途中で切れている場合は、メールのリンク全体をコピーしてください。',
  otherAccount: (account) =>
    `現在は ${account} としてログインしていますが、このフォームは別のアカウントのものです。何も変更されていません。`,
  fieldErrors: {
    not_confirmed: '入力内容が一致しません。何も削除されていません。',
    invalid_email: 'メールアドレスを入力してください (例: ada@example.com)。',
    /** Instead of `invalid_email`, if there is a letter such as é before the @. */
    internationalized_email:
      '@ の前に、アクセント付きの文字やその他の特殊文字がないメールアドレスを入力してください。',
    other_account: 'その間に別のアカウントにログインしました。何も変更されていません。',
    password_breached: 'このパスワードは、データ漏洩で流出したものです。別のパスワードを選んでください。',
    password_is_identifier: 'メールアドレスやユーザー名とは異なるパスワードを選んでください。',
    password_too_common: 'このパスワードは推測されやすいものです。別のパスワードを選んでください。',
    required: 'この項目を入力してください。',
    same_email: 'これはすでに現在のメールアドレスです。',
    same_password: 'これは現在のパスワードです。別のパスワードを選んでください。',
    taken: 'すでに使われています。別のものを選んでください。',
    unknown_key: 'この項目はここでは使用できません。ページを再読み込みして、もう一度お試しください。',
    wrong_type: 'この値はここでは使用できません。確認して、もう一度お試しください。',
    /** After a slash, only for the app's own fields of this type. */
    'wrong_type/integer': '整数を入力してください (例: 45)。',
    'wrong_type/number': '数値を入力してください。',
    'invalid/plainDate': '日付を入力してください。',
  },

  steps: {
    'forgot-password': 'パスワードを再設定',
    reauthenticate: '本人確認を行う',
    'sign-in': 'ログイン',
    'sign-up': 'アカウントを作成',
    support: 'サポートに問い合わせる',
    'verify-email': 'メールアドレスを確認',
  },
};
