import { html } from '../../html.js';
import type { Unit } from '../../phrases.js';
import type { ErrorWords } from '../../words/catalogue.js';

const counters: Readonly<Record<Unit, string>> = { characters: '文字', items: '個' };

/** What errors say in Japanese. */
export const errors: ErrorWords = {
  problems: {
    access_denied:
      'プロバイダーでのログインが拒否されました。最初からやり直し、プロバイダーで許可してください。',
    account_deleted:
      'このアカウントは削除されました。しばらくの間は復元できます。削除についてのメールがある場合はそのリンクから復元するか、このアプリの運営者に復元を依頼してください。',
    account_exists:
      'このメールアドレスのアカウントがすでにあります。そのアカウントにログインしてから、もう一度お試しください。',
    account_in_use: '他のデータがこのアカウントに依存しているため、削除できません。',
    account_linked_elsewhere:
      'このアカウントは別のユーザーと連携されています。先にそのユーザーとしてログインし、連携を解除してください。',
    account_not_linked: 'このプロバイダーのアカウントは連携されていません。先に連携してください。',
    account_suspended: 'このアカウントは利用停止中です。このサービスの運営者にお問い合わせください。',
    acting_session:
      '管理者がこのユーザーとして代理ログイン中のため、この操作は許可されていません。先にログアウトして、代理ログインを終了してください。',
    admin_required: 'この操作を行えるのは管理者だけです。管理者としてログインしてください。',
    already_member: 'このユーザーはすでに組織のメンバーです。',
    ambiguous_credentials:
      'リクエストに API キーと別の認証情報が含まれています。どちらか 1 つだけを送信してください。',
    api_key_not_found: 'この API キーは存在しません。すでに無効にされた可能性があります。',
    body_too_large: '本文が 16 KiB を超えています。',
    body_too_slow: '本文の受信に 10 秒を超える時間がかかりました。もう一度送信してください。',
    code_expired: 'このコードは、ここではもう使えません。別のコードをリクエストしてください。',
    device_not_found:
      'このブラウザーはアカウントに記録されていません。すでに記録が削除された可能性があります。',
    email_code_not_offered: 'ここではコードをメールで送信しません。別の方法を使ってください。',
    email_missing: 'このユーザーには、リンクの送信先となるメールアドレスがありません。',
    email_not_verified: '先にメールアドレスを確認してください。メールで送信したリンクを開くと確認できます。',
    email_taken:
      'このメールアドレスのアカウントがすでにあります。そのアカウントにログインするか、別のメールアドレスを使ってください。',
    email_unproven:
      'このメールアドレスのアカウントがありますが、メールアドレスがそのユーザーのものであることは証明されていません。先にメールアドレスを確認するか、アカウントを削除してください。',
    human_check_failed:
      '人による送信であることを確認できませんでした。ページを再読み込みして、もう一度お試しください。',
    insufficient_scope: '認証情報に必要なスコープがありません。そのスコープを持つ認証情報を使ってください。',
    invalid_api_key:
      'この API キーは、有効期限が切れたか、無効にされたか、存在しません。新しい API キーを作成してください。',
    invalid_callback_url:
      'callback_url には、このアプリのパス、または信頼されたオリジンの URL を指定してください。',
    invalid_code:
      'コードが間違っているか、すでに使用されています。コードを確認するか、新しいコードを入力してください。',
    invalid_credentials:
      'アカウント名またはパスワードが間違っています。両方を確認して、もう一度お試しください。',
    invalid_flow:
      'このログインは、このブラウザーで開始されていないか、すでに完了しているか、時間がかかりすぎました。最初からやり直してください。',
    invalid_json: '本文が UTF-8 の有効な JSON ではありません。',
    invalid_passkey: 'パスキーを確認できなかったか、時間がかかりすぎました。もう一度お試しください。',
    invalid_request: 'リクエストの形式が正しくありません。パス、パラメーター、ヘッダーを確認してください。',
    invalid_session: 'セッションが終了したか、存在しません。もう一度ログインしてください。',
    invalid_token:
      'リンクの有効期限が切れたか、すでに使用されたか、リンクが無効です。新しいリンクをリクエストしてください。',
    invitation_for_other_email:
      'この招待は別のメールアドレス宛てです。ログアウトしてから、リンクをもう一度開いてください。',
    invitation_not_found: 'この招待は存在しません。すでに承諾されたか、取り消された可能性があります。',
    last_owner:
      '組織に、アカウントが有効なオーナーがいなくなります。先に別のメンバーをオーナーにしてください。',
    last_sign_in_method: 'これは唯一のログイン方法です。先に別の方法を追加してください。',
    mail_refused:
      'メールサーバーがこのメールの受信を恒久的に拒否しています。メールアドレスを確認してください。',
    member_not_found: 'このメンバーは組織に存在しません。',
    method_not_allowed: 'このパスはこのメソッドに対応していません。Allow を参照してください。',
    new_password_required:
      'このアカウントには新しいパスワードが必要です。メールで送信したリンクを開くか、別のメールをリクエストしてください。',
    no_passkey:
      'この変更の時点で、アカウントのパスキーは追加されてから間もないものだったか、ありませんでした。変更前のパスワードと 2 段階目の認証を入力してください。',
    organization_full: '組織のメンバー数が上限に達しています。',
    organization_in_use: '他のデータがまだこの組織に属しています。先にそのデータを削除してください。',
    organization_not_found: 'この組織は存在しないか、この組織のメンバーではありません。',
    origin_not_allowed:
      'このリクエストは、別のウェブサイト、またはこのアプリの通常の URL ではない場所から送信されました。通常の URL でアプリを開いて、もう一度お試しください。',
    other_browser:
      'このリンクは、リクエストしたブラウザーでのみ使えます。そのブラウザーで、メールに記載されたコードを入力してください。',
    own_account: 'これは自分のアカウントです。この操作は別の管理者が行う必要があります。',
    passkey_exists:
      'このパスキーはすでに使用されています。別のデバイスを使うか、このパスキーでログインしてください。',
    passkey_not_found: 'このパスキーは存在しません。すでに削除された可能性があります。',
    password_already_set:
      'アカウントにはすでにパスワードが設定されています。代わりに、パスワードを変更してください。',
    password_not_set: 'アカウントにパスワードが設定されていません。',
    permission_required: 'この操作に必要な権限がありません。',
    proof_required:
      'リンクだけでは不十分です。変更前からしばらくアカウントに記録されていたブラウザーでリンクを開き、変更前のログインに必要だった本人確認を行ってください。missing を参照してください。',
    provider_already_linked:
      'このプロバイダーの別のアカウントがすでに連携されています。先にその連携を解除してください。',
    provider_error: 'プロバイダーから予期しない応答がありました。しばらくしてからもう一度お試しください。',
    provider_not_found: 'このプロバイダーは存在しません。ID を確認してください。',
    provider_slow: 'プロバイダーからの応答がまだありません。数秒後にもう一度お試しください。',
    rate_limited: '試行回数が多すぎます。しばらくしてからもう一度お試しください。',
    reauthentication_required: 'ログインしてから時間が経っています。再認証してから、もう一度お試しください。',
    refresh_token_missing:
      'プロバイダーがこのアカウントのリフレッシュトークンを発行しませんでした。アカウントをもう一度連携してください。',
    relink_required: 'これらのトークンはもう使えません。アカウントをもう一度連携してください。',
    scope_required:
      'この認証情報はスコープで制限されており、このパスを許可するスコープはありません。スコープの制限がない認証情報を使ってください。',
    second_factor_demanded:
      'このアカウントには 2 段階認証が必要です。先に別の方法を設定してから、この方法を削除してください。',
    second_factor_required: 'この操作には 2 段階目の認証が必要です。POST /reauthenticate で行ってください。',
    session_not_found: 'このセッションは存在しません。すでに終了した可能性があります。',
    session_required: 'この操作にはセッションが必要です。ログインしてください。',
    sign_in_expired:
      'このログインは、時間がかかりすぎたか、すでに完了しています。最初からやり直してください。',
    sign_up_incomplete:
      'アカウントに必要な情報の一部が、プロバイダーから返されませんでした。別の方法でアカウントを作成してください。',
    sign_up_refused:
      'ここではアカウントを作成できません。アカウントが必要な場合は、このアプリの運営者に依頼してください。',
    slug_taken: 'この短縮名は別の組織で使われています。別の短縮名を選んでください。',
    target_is_administrator:
      'このユーザーは管理者のため、ここではこの操作はできません。このアプリの運営者がアプリの設定で行います。',
    task_required: '先にタスクを完了する必要があります。task を参照してください。',
    too_many_api_keys: 'API キーの数が上限に達しています。不要になった API キーを無効にしてください。',
    too_many_invitations:
      '組織の保留中の招待の数が上限に達しています。いくつかの招待を取り消すか、承諾されるまでお待ちください。',
    too_many_organizations:
      'オーナーになっている組織の数が上限に達しています。組織を削除するか、いずれかの組織のオーナーをやめてください。',
    too_many_passkeys: 'パスキーの数が上限に達しています。使わなくなったパスキーを削除してください。',
    totp_not_enabled: 'このアカウントには 2 段階認証が設定されていません。先に設定してください。',
    unauthenticated: 'リクエストにセッションが含まれていません。先にログインしてください。',
    unavailable: 'サービスは一時的に利用できません。少し待ってからもう一度お試しください。',
    unknown_passkey:
      'このパスキーのアカウントはありません。別の方法でログインし、デバイスからこのパスキーを削除してください。',
    unsupported_media_type: '本文を UTF-8 の application/json として、圧縮せずに送信してください。',
    user_not_found: 'このユーザーは存在しません。ID を確認してください。',
    username_taken: 'このユーザー名はすでに使われています。別のユーザー名を選んでください。',
    validation_failed: '本文が無効です。errors を参照してください。',
  },

  phrases: {
    // Without a full stop, which `sentenceOf` of the pages adds.
    required: '必須です',
    invalid: '値が無効です',
    'unknown-key': 'このリクエストにはないフィールドです',
    'wrong-type': ({ type }) => `${type} 型の値を指定してください`,
    'too-short': ({ minimum, unit }) => `${minimum} ${counters[unit]}以上にしてください`,
    'too-long': ({ maximum, unit }) => `${maximum} ${counters[unit]}以下にしてください`,
    'too-small': ({ minimum }) => `${minimum} 以上にしてください`,
    'too-large': ({ maximum }) => `${maximum} 以下にしてください`,
    'malformed-text': 'NUL 文字を含まない、正しい形式の Unicode にしてください',
    'not-one-of': ({ values }) => `次のいずれかを指定してください: ${values.join(', ') || '(なし)'}`,
    taken: 'すでに使われています。別のものを選んでください',
    'not-storable': '保存できない値です',

    'outside-pattern': 'このフィールドのパターンと一致していません',
    'not-a-date': '西暦 1 年から 9999 年までの Date を指定してください',
    'not-a-time': 'ISO 8601 形式の日時を指定してください (例: 2026-01-31T12:00:00Z)',
    'not-a-day': '日付を指定してください (例: 1815-12-10)',
    'outside-years': '西暦 1 年から 9999 年までの範囲で指定してください',
    'not-json': 'JSON で表現できる値を指定してください',
    'json-null': 'null は指定できません',
    'json-too-deep': ({ maximum }) => `入れ子は ${maximum} 階層以下にしてください`,
    'json-too-large': ({ maximum }) => `JSON で ${maximum} KiB 以下にしてください`,
    'json-proto': 'キー __proto__ は使えません',

    'sent-twice': '2 回以上送信されています',
    'not-single': '値を 1 つだけ指定してください',
    'not-checkboxes': 'このフォームのチェックボックスの名前を指定してください',
    'not-exactly-one': ({ values }) => `次のうち 1 つだけを指定してください: ${values.join(', ')}`,
    'not-code-or-token': 'token がない場合は必須で、ある場合は指定できません',
    'only-together': ({ field }) => `${field} と一緒に送信した場合にのみ受け付けられます`,
    'not-in-future': '西暦 10000 年より前の、未来の日時を指定してください',
    'not-confirmed': 'ページで求められているとおりに入力してください',
    'other-account': '別のアカウントのものです',

    'invalid-email': 'メールアドレスを入力してください (例: ada@example.com)',
    'internationalized-email':
      '@ の前に ASCII 以外の文字がある国際化メールアドレスは受け付けられません。ASCII のメールアドレスを使ってください',
    'same-email': 'アカウントの現在のメールアドレスと同じです',
    'email-not-accepted': '受け付けられません。アカウントには、代わりにユーザー名があります',
    'invalid-username':
      '3～30 文字で、英字 (a～z)、数字、アンダースコア、ドット、ハイフンだけを使ってください',
    'username-not-allowed': ({ maximum }) =>
      `このアプリで許可されている名前にしてください (${maximum} 文字以下、@ なし、前後にスペースなし)`,
    'username-not-accepted': '受け付けられません。ユーザー名は有効になっていません',
    'enter-identifier': '必須です。メールアドレス、ユーザー名、またはその両方を入力してください',
    'user-without-identifier': '必須です。ユーザーには、メールアドレスまたはユーザー名が必要です',
    'pass-identifier': '必須です。メールアドレスまたはユーザー名を渡してください',

    'password-too-common': '特によく使われているパスワードの 1 つです。別のパスワードを選んでください',
    'password-of-app-words': 'ここで推測されやすい言葉に頼ったパスワードです。別のパスワードを選んでください',
    'password-breached': 'データ漏洩で流出したパスワードです。別のパスワードを選んでください',
    'password-is-email': 'メールアドレスとは異なるものにしてください',
    'password-is-username': 'ユーザー名とは異なるものにしてください',
    'same-password': '現在のパスワードとは異なるものにしてください',
    'invalid-password': ({ maximum }) =>
      `NUL を含まない、正しい形式の Unicode で 1～${maximum} 文字にしてください`,

    'invalid-name': ({ maximum }) => `目に見える文字で 1～${maximum} 文字にしてください`,
    'invalid-slug':
      '英小文字、数字、ハイフンを 2～63 文字で指定してください。ハイフンは続けて使えません。先頭と末尾は英小文字か数字にしてください。ID のような形式は使えません',
    'invalid-scopes': ({ maximum }) =>
      `目に見える ASCII 文字の単語を ${maximum} 個以下で指定してください。引用符とバックスラッシュは使えません`,
    'invalid-rights': 'some または all を指定してください',
    'not-roles': 'ロールのリストを指定してください',
    'too-many-roles': ({ maximum }) => `ロールは ${maximum} 個以下にしてください`,
    'invalid-reason': ({ maximum }) => `目に見える文字で 1～${maximum} 文字にしてください`,
    'reason-too-long': ({ maximum }) =>
      `NUL を含まない、正しい形式の Unicode で ${maximum} 文字以下にしてください`,

    // Whole sentences.
    'totp-locked':
      '間違ったコードが何度も入力されたため、認証アプリのコードは受け付けられなくなりました。リカバリーコードまたはパスキーを使うか、このサービスの運営者にお問い合わせください。',
    'totp-not-started':
      '確認する認証アプリがありません。設定に 10 分を超える時間がかかった場合は、最初からやり直してください。',
    'no-passkey-yet': 'パスキーがまだありません。先に追加してください。',
    'unknown-browser':
      'このブラウザーは、アカウントで初めて使用されています。もう一度ログインしてください。本人確認のためのコードがメールで届きます。',
    'no-authentication-time':
      'このプロバイダーは、ログインした日時を通知しません。パスワードで本人確認を行うか、日時を通知する OpenID Connect プロバイダーを使うか、もう一度ログインしてください。',
    'provider-without-fields': ({ fields }) =>
      `次の必須フィールドがプロバイダーから返されませんでした: ${fields.join(', ')}。`,
    'wrong-former-password':
      'パスワードが間違っています。この変更の前にアカウントに設定されていたパスワードを入力してください。',
    'undo-without-email':
      '変更前のメールアドレスは別のアカウントで使われているため、変更を元に戻すと、このアカウントにログインする方法がなくなります。サポートに問い合わせてください。',
    'no-such-session-of-user': 'このユーザーにこのセッションはありません。すでに終了した可能性があります。',
    'role-for-unproven-email':
      'このユーザーのメールアドレスが本人のものであることは証明されていないため、別人の可能性があります。先にメールアドレスの確認をユーザーに依頼してください。',
    'account-incomplete': 'アカウントが不完全です。対処方法はログを参照してください。',
    'schema-outdated':
      'データベースのスキーマがこのバージョンと一致していません。対処方法はログを参照してください。',
  },

  refusal: {
    field: (name, detail) => `${name ?? 'フォーム'}: ${detail}`,
    wait: (time) => `${time}後にもう一度お試しください。`,
    start: 'トップページ',
    back: (link) => html`前のページ、または「${link}」に戻ってください。`,
  },
};
