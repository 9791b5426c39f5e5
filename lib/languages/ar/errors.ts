import { type Html, html } from '../../html.js';
import type { Unit } from '../../phrases.js';
import type { ErrorWords } from '../../words/catalogue.js';
import { type PluralForms, pluralsIn } from '../../words/plural.js';

const plural = pluralsIn('ar');

/** What comes after a number, or stands in its place, in the nominative. */
interface Nouns {
  readonly one: string;
  readonly two: string;
  readonly few: string;
  readonly many: string;
  readonly other: string;
}

const CHARACTERS: Nouns = { one: 'حرف واحد', two: 'حرفان', few: 'أحرف', many: 'حرفًا', other: 'حرف' };
const ITEMS: Nouns = { one: 'عنصر واحد', two: 'عنصران', few: 'عناصر', many: 'عنصرًا', other: 'عنصر' };
const WORDS: Nouns = { one: 'كلمة واحدة', two: 'كلمتان', few: 'كلمات', many: 'كلمة', other: 'كلمة' };
const ROLES: Nouns = { one: 'دور واحد', two: 'دوران', few: 'أدوار', many: 'دورًا', other: 'دور' };
const LEVELS: Nouns = { one: 'مستوى واحد', two: 'مستويان', few: 'مستويات', many: 'مستوى', other: 'مستوى' };

function counted(count: number, { one, two, few, many, other }: Nouns): string {
  const forms: PluralForms = {
    one,
    two,
    few: `${count} ${few}`,
    many: `${count} ${many}`,
    other: `${count} ${other}`,
  };
  return plural(count, forms);
}

function inUnit(count: number, unit: Unit): string {
  return counted(count, unit === 'characters' ? CHARACTERS : ITEMS);
}

/** What errors say in Arabic (Modern Standard). */
export const errors: ErrorWords = {
  problems: {
    // General.
    invalid_json: 'نص الطلب ليس JSON صالحًا بترميز UTF-8.',
    invalid_request: 'صيغة الطلب غير صحيحة: تحقّق من مساره ومعلماته وترويساته.',
    invalid_callback_url: 'يجب أن يكون callback_url مسارًا في هذا التطبيق أو عنوان URL لمصدر موثوق به.',
    invalid_token: 'انتهت صلاحية الرابط، أو سبق استخدامه، أو أنه غير صالح. اطلب رابطًا جديدًا.',
    unauthenticated: 'سجّل الدخول أولًا: لا يتضمّن الطلب جلسة.',
    invalid_session: 'انتهت الجلسة أو لم تكن موجودة قط. سجّل الدخول مرة أخرى.',
    invalid_code: 'الرمز خاطئ أو سبق استخدامه. تحقّق منه، أو أدخل رمزًا أحدث.',
    sign_in_expired: 'استغرق تسجيل الدخول هذا وقتًا طويلًا، أو اكتمل بالفعل. ابدأ من جديد.',
    invalid_credentials: 'اسم الحساب أو كلمة المرور غير صحيحة. تحقّق منهما وحاول مرة أخرى.',
    admin_required: 'لا يمكن ذلك إلا لمشرف: سجّل الدخول بحساب مشرف.',
    permission_required: 'ليس لديك الإذن الذي يتطلبه ذلك.',
    target_is_administrator:
      'هذا المستخدم مشرف، لذا لا يمكن ذلك هنا: يفعله القائمون على هذا التطبيق في إعداداته.',
    insufficient_scope: 'تفتقر بيانات الاعتماد إلى نطاق مطلوب: استخدم بيانات اعتماد تتضمّنه.',
    scope_required:
      'تقتصر بيانات الاعتماد هذه على نطاقاتها، ولا يسمح أي نطاق منها بهذا المسار: استخدم بيانات اعتماد بدون نطاقات.',
    session_required: 'يتطلب ذلك جلسة: سجّل الدخول.',
    email_not_verified: 'أكّد بريدك الإلكتروني أولًا: افتح الرابط الوارد في الرسالة التي أُرسلت إليك.',
    sign_up_refused: 'لا يمكنك إنشاء حساب هنا. اطلب حسابًا من القائمين على هذا التطبيق.',
    second_factor_required: 'يتطلب ذلك العامل الثاني: قدّمه باستخدام POST /reauthenticate.',
    reauthentication_required: 'مضى وقت طويل على تسجيل دخولك. أكّد هويتك، ثم حاول مرة أخرى.',
    origin_not_allowed:
      'أُرسل هذا من موقع آخر، أو من عنوان غير العنوان المعتاد لهذا التطبيق. افتح التطبيق على عنوانه المعتاد وحاول مرة أخرى.',
    user_not_found: 'هذا المستخدم غير موجود: تحقّق من المعرّف.',
    session_not_found: 'ليست لديك جلسة كهذه: ربما انتهت بالفعل.',
    method_not_allowed: 'لا يدعم هذا المسار هذه الطريقة: راجع Allow.',
    body_too_slow: 'استغرق وصول نص الطلب أكثر من 10 ثوانٍ. أرسله مرة أخرى.',
    account_exists: 'هناك بالفعل حساب بهذا البريد الإلكتروني. سجّل الدخول إليه، ثم حاول مرة أخرى.',
    email_taken: 'هناك بالفعل حساب بهذا البريد الإلكتروني. سجّل الدخول إليه، أو استخدم بريدًا إلكترونيًا آخر.',
    username_taken: 'اسم المستخدم هذا غير متاح. اختر اسمًا آخر.',
    slug_taken: 'هذا الاسم المختصر مستخدم لمؤسسة أخرى. اختر اسمًا آخر.',
    own_account: 'هذا حسابك أنت: يجب أن يفعل ذلك مشرف آخر.',
    account_in_use: 'لا يمكن حذف الحساب، لأن بيانات أخرى تعتمد عليه.',
    last_sign_in_method: 'هذه هي الطريقة الوحيدة لتسجيل دخولك. أضف طريقة أخرى أولًا.',
    body_too_large: 'حجم نص الطلب أكبر من 16 KiB.',
    unsupported_media_type: 'أرسل نص الطلب من النوع application/json بترميز UTF-8 وبدون ضغط.',
    validation_failed: 'نص الطلب غير صالح: راجع errors.',
    rate_limited: 'محاولات كثيرة جدًا. حاول مرة أخرى لاحقًا.',
    mail_refused: 'يرفض خادم البريد هذا البريد الإلكتروني نهائيًا: تحقّق من العنوان.',
    unavailable: 'الخدمة غير متاحة مؤقتًا. حاول مرة أخرى بعد قليل.',

    // Accounts and sessions.
    account_deleted:
      'تم حذف هذا الحساب. يمكن استعادته لبعض الوقت: عبر الرابط الوارد في الرسالة الإلكترونية بشأن الحذف، إن وُجدت، أو من خلال القائمين على هذا التطبيق.',
    account_suspended: 'هذا الحساب معلّق. تواصل مع القائمين على هذه الخدمة.',
    acting_session:
      'يتصرّف أحد المشرفين بصفة هذا المستخدم، وهو ما لا يسمح بذلك. أنهِ التصرّف بصفته أولًا: سجّل الخروج.',
    code_expired: 'لم يعد هذا الرمز يعمل هنا. اطلب رمزًا آخر.',
    device_not_found: 'لا يعرف حسابك هذا المتصفّح. ربما تم نسيانه بالفعل.',
    email_code_not_offered: 'لا يُرسل هنا رمز بالبريد الإلكتروني. استخدم طريقة أخرى من الطرق المتاحة لك.',
    email_missing: 'ليس لهذا المستخدم بريد إلكتروني لإرسال رابط إليه.',
    email_unproven:
      'هناك حساب يستخدم هذا البريد الإلكتروني، لكن لم يُثبت أحد أنه يخصّ مستخدم الحساب. أكّد البريد الإلكتروني أو احذف الحساب أولًا.',
    human_check_failed: 'تعذّر التأكد من أن شخصًا هو من أرسل هذا. أعد تحميل الصفحة، ثم حاول مرة أخرى.',
    new_password_required:
      'يحتاج هذا الحساب إلى كلمة مرور جديدة. افتح الرابط الوارد في الرسالة التي أُرسلت إليك، أو اطلب رسالة أخرى.',
    no_passkey:
      'لم يكن للحساب مفتاح مرور لمدة كافية قبل هذا التغيير. أدخل كلمة المرور والعامل الثاني من قبل التغيير.',
    password_already_set: 'للحساب كلمة مرور بالفعل. غيّرها بدلًا من ذلك.',
    password_not_set: 'ليس للحساب كلمة مرور.',
    proof_required:
      'الرابط وحده لا يكفي. افتحه في متصفّح كان الحساب يعرفه منذ مدة، وقدّم الإثبات الذي كان تسجيل الدخول يتطلبه قبل هذا التغيير. راجع missing.',
    second_factor_demanded: 'يجب أن يكون لهذا الحساب عامل ثانٍ. أعدّ عاملًا آخر أولًا، ثم أزل هذا العامل.',
    task_required: 'عليك إكمال مهمة أولًا: راجع task.',
    totp_not_enabled: 'ليس لهذا الحساب عامل ثانٍ. أعدّ واحدًا أولًا.',

    // API keys.
    ambiguous_credentials: 'يتضمّن الطلب مفتاح API وبيانات اعتماد أخرى. أرسل واحدًا منهما فقط.',
    invalid_api_key: 'انتهت صلاحية مفتاح API، أو أُبطل، أو لم يكن موجودًا قط. أنشئ مفتاحًا جديدًا.',
    api_key_not_found: 'ليس لديك مفتاح API كهذا. ربما أُبطل بالفعل.',
    too_many_api_keys: 'بلغت الحد الأقصى لعدد مفاتيح API. أبطل مفتاحًا لم تعد تحتاج إليه.',

    // Emailed sign-ins and providers.
    other_browser: 'لا يعمل هذا الرابط إلا في المتصفّح الذي طلبته فيه. أدخل هناك الرمز الوارد في الرسالة.',
    invalid_flow:
      'لم يبدأ تسجيل الدخول هذا في هذا المتصفّح، أو اكتمل بالفعل، أو استغرق وقتًا طويلًا. ابدأ من جديد.',
    access_denied: 'رُفض تسجيل الدخول لدى مزوّد الخدمة. ابدأ من جديد، ووافق هناك.',
    sign_up_incomplete: 'لم يقدّم مزوّد الخدمة كل ما يحتاج إليه الحساب. أنشئ حسابًا بطريقة أخرى.',
    account_not_linked: 'لم تربط أي حساب لدى مزوّد الخدمة هذا. اربط حسابًا أولًا.',
    provider_not_found: 'مزوّد الخدمة هذا غير موجود: تحقّق من معرّفه.',
    account_linked_elsewhere: 'هذا الحساب مرتبط بمستخدم آخر. سجّل الدخول بحساب ذلك المستخدم وألغِ الربط أولًا.',
    provider_already_linked: 'هناك حساب آخر لدى مزوّد الخدمة هذا مرتبط بالفعل. ألغِ ربطه أولًا.',
    refresh_token_missing: 'لم يُصدر مزوّد الخدمة رمز تحديث مميّزًا لهذا الحساب. اربط الحساب من جديد.',
    relink_required: 'لم يعد من الممكن استخدام هذه الرموز المميّزة. اربط الحساب من جديد.',
    provider_error: 'لم يستجب مزوّد الخدمة كما هو متوقّع. حاول مرة أخرى لاحقًا.',
    provider_slow: 'لم يستجب مزوّد الخدمة بعد. حاول مرة أخرى بعد بضع ثوانٍ.',

    // Organizations.
    organization_not_found: 'هذه المؤسسة غير موجودة، أو لست عضوًا فيها.',
    member_not_found: 'ليس في المؤسسة عضو كهذا.',
    invitation_not_found: 'هذه الدعوة غير موجودة. ربما قُبلت أو أُبطلت بالفعل.',
    too_many_organizations:
      'بلغت الحد الأقصى لعدد المؤسسات التي تملكها. احذف إحداها، أو تخلَّ عن ملكية إحداها.',
    already_member: 'هذا المستخدم عضو في المؤسسة بالفعل.',
    organization_full: 'بلغت المؤسسة الحد الأقصى لعدد الأعضاء.',
    last_owner: 'ستبقى المؤسسة بلا مالك حسابه نشط. عيّن أولًا عضوًا آخر مالكًا.',
    organization_in_use: 'لا تزال هناك بيانات أخرى تتبع هذه المؤسسة. أزل تلك البيانات أولًا.',
    too_many_invitations: 'بلغت المؤسسة الحد الأقصى لعدد الدعوات المعلّقة. أبطل بعضها، أو انتظر حتى تُقبل.',
    invitation_for_other_email: 'هذه الدعوة موجّهة إلى بريد إلكتروني آخر. سجّل الخروج، وافتح الرابط مرة أخرى.',

    // Passkeys.
    invalid_passkey: 'تعذّر التحقّق من مفتاح المرور، أو مرّ وقت طويل جدًا. حاول مرة أخرى.',
    unknown_passkey: 'لا يوجد حساب له مفتاح المرور هذا. سجّل الدخول بطريقة أخرى، واحذف مفتاح المرور من جهازك.',
    passkey_not_found: 'ليس لديك مفتاح مرور كهذا. ربما أُزيل بالفعل.',
    passkey_exists: 'مفتاح المرور هذا مستخدم بالفعل. استخدم جهازًا آخر، أو سجّل الدخول به.',
    too_many_passkeys: 'بلغت الحد الأقصى لعدد مفاتيح المرور. أزل مفتاحًا لم تعد تستخدمه.',
  },

  phrases: {
    // About a field. They are sentences of their own, because a name in JSON has no gender for a predicate to agree with.
    required: 'القيمة مفقودة',
    invalid: 'القيمة غير صالحة',
    'unknown-key': 'هذا الحقل ليس من حقول هذا الطلب',
    'wrong-type': ({ type }) => `يجب أن تكون القيمة من النوع ${type}`,
    'too-short': ({ minimum, unit }) => `الحد الأدنى هو ${inUnit(minimum, unit)}`,
    'too-long': ({ maximum, unit }) => `الحد الأقصى هو ${inUnit(maximum, unit)}`,
    'too-small': ({ minimum }) => `الحد الأدنى هو ${minimum}`,
    'too-large': ({ maximum }) => `الحد الأقصى هو ${maximum}`,
    'malformed-text': 'يجب أن تكون القيمة نص Unicode سليم الصيغة بدون المحرف NUL',
    'not-one-of': ({ values }) => `يجب أن تكون القيمة إحدى القيم التالية: ${values.join('، ') || '(لا شيء)'}`,
    taken: 'هذه القيمة غير متاحة: اختر قيمة أخرى',
    'not-storable': 'لا يمكن تخزين هذه القيمة',

    // The fields of the app.
    'outside-pattern': 'يجب أن تطابق القيمة نمط هذا الحقل',
    'not-a-date': 'يجب أن تكون القيمة كائن Date في السنوات من 1 إلى 9999',
    'not-a-time': 'يجب أن تكون القيمة وقتًا بتنسيق ISO 8601، مثل 2026-01-31T12:00:00Z',
    'not-a-day': 'يجب أن تكون القيمة يومًا، مثل 1815-12-10',
    'outside-years': 'يجب أن تكون القيمة في السنوات من 1 إلى 9999',
    'not-json': 'يجب أن تكون القيمة قابلة للتمثيل في JSON',
    'json-null': 'يجب ألا تكون القيمة null',
    'json-too-deep': ({ maximum }) => `الحد الأقصى لعمق التداخل هو ${counted(maximum, LEVELS)}`,
    'json-too-large': ({ maximum }) => `الحد الأقصى لحجم القيمة بتنسيق JSON هو ${maximum} KiB`,
    'json-proto': 'يجب ألا تتضمّن القيمة المفتاح __proto__',

    // Bodies and forms.
    'sent-twice': 'أُرسل هذا الحقل أكثر من مرة',
    'not-single': 'يجب إرسال قيمة واحدة فقط',
    'not-checkboxes': 'يجب أن تكون القيم أسماء مربعات اختيار في هذا النموذج',
    'not-exactly-one': ({ values }) => `يجب إرسال واحد فقط مما يلي: ${values.join('، ')}`,
    'not-code-or-token': 'هذا الحقل مطلوب إذا لم يوجد token، وعندئذٍ فقط',
    'only-together': ({ field }) => `لا يُقبل هذا الحقل إلا مع ${field}`,
    'not-in-future': 'يجب أن تكون القيمة وقتًا في المستقبل، قبل عام 10000',
    'not-confirmed': 'يجب أن تكون القيمة ما تطلبه الصفحة',
    'other-account': 'هذه القيمة تخصّ حسابًا آخر',

    // Emails and usernames.
    'invalid-email': 'يجب أن تكون القيمة بريدًا إلكترونيًا مثل ada@example.com',
    'internationalized-email':
      'هذا عنوان دولي يتضمّن قبل الرمز @ محارف من خارج ASCII، وهو غير مقبول: استخدم عنوانًا بمحارف ASCII',
    'same-email': 'هذا هو البريد الإلكتروني الحالي للحساب',
    'email-not-accepted': 'البريد الإلكتروني غير مقبول: للحسابات اسم مستخدم بدلًا منه',
    'invalid-username':
      'يلزم من 3 إلى 30 حرفًا: الأحرف اللاتينية من a إلى z والأرقام والشرطات السفلية والنقاط والواصلات',
    'username-not-allowed': ({ maximum }) =>
      `يجب أن يكون الاسم مما يسمح به هذا التطبيق: الحد الأقصى ${counted(maximum, CHARACTERS)}، بدون الرمز @ وبدون مسافات في بدايته أو نهايته`,
    'username-not-accepted': 'اسم المستخدم غير مقبول: أسماء المستخدمين غير مفعّلة',
    'enter-identifier': 'القيمة مفقودة: أدخل بريدًا إلكترونيًا أو اسم مستخدم أو كليهما',
    'user-without-identifier': 'القيمة مفقودة: يحتاج المستخدم إلى بريد إلكتروني أو اسم مستخدم',
    'pass-identifier': 'القيمة مفقودة: مرّر بريدًا إلكترونيًا أو اسم مستخدم',

    // Passwords.
    'password-too-common': 'كلمة المرور هذه من أكثر كلمات المرور شيوعًا؛ اختر كلمة مرور أخرى',
    'password-of-app-words': 'تعتمد كلمة المرور هذه على كلمات يسهل تخمينها هنا؛ اختر كلمة مرور أخرى',
    'password-breached': 'كلمة المرور هذه معروفة من تسريب بيانات؛ اختر كلمة مرور أخرى',
    'password-is-email': 'يجب ألا تكون كلمة المرور هي بريدك الإلكتروني',
    'password-is-username': 'يجب ألا تكون كلمة المرور هي اسم المستخدم',
    'same-password': 'يجب أن تختلف كلمة المرور عن الحالية',
    'invalid-password': ({ maximum }) =>
      `يجب أن يكون الطول من 1 إلى ${maximum} من محارف Unicode سليمة الصيغة، بدون NUL`,

    // Passkeys, API keys, organizations, roles and the administration.
    'invalid-name': ({ maximum }) => `يجب أن يكون الطول من 1 إلى ${maximum} من الأحرف الظاهرة`,
    'invalid-slug':
      'يلزم من 2 إلى 63 من الأحرف اللاتينية الصغيرة والأرقام والواصلات المفردة، على أن تكون البداية والنهاية بحرف أو رقم، وألا تبدو القيمة كمعرّف',
    'invalid-scopes': ({ maximum }) =>
      `الحد الأقصى هو ${counted(maximum, WORDS)} من محارف ASCII الظاهرة، بدون علامات اقتباس أو شرطات مائلة عكسية`,
    'invalid-rights': 'يجب أن تكون القيمة some أو all',
    'not-roles': 'يجب أن تكون القيمة قائمة أدوار',
    'too-many-roles': ({ maximum }) => `الحد الأقصى هو ${counted(maximum, ROLES)}`,
    'invalid-reason': ({ maximum }) => `يجب أن يكون الطول من 1 إلى ${maximum} من الأحرف الظاهرة`,
    'reason-too-long': ({ maximum }) =>
      `الحد الأقصى هو ${counted(maximum, CHARACTERS)} من نص Unicode سليم الصيغة، بدون NUL`,

    // The details of problems, which are whole sentences.
    'totp-locked':
      'بعد رموز خاطئة كثيرة جدًا، لم تعد رموز تطبيق المصادقة مقبولة. استخدم رمز استرداد أو مفتاح مرور، أو اطلب المساعدة من القائمين على هذه الخدمة.',
    'totp-not-started': 'لا يوجد تطبيق مصادقة لتأكيده. إذا استغرق الإعداد أكثر من 10 دقائق، فابدأه من جديد.',
    'no-passkey-yet': 'ليس لديك مفتاح مرور. أضف واحدًا أولًا.',
    'unknown-browser':
      'هذا المتصفّح جديد على حسابك. سجّل الدخول مرة أخرى: ستصلك رسالة إلكترونية تتضمّن رمزًا يؤكّد هويتك.',
    'no-authentication-time':
      'لا يذكر مزوّد الخدمة هذا متى سجّلت الدخول لديه. أكّد كلمة مرورك، أو استخدم مزوّد OpenID Connect يذكر ذلك، أو سجّل الدخول مرة أخرى.',
    'provider-without-fields': ({ fields }) => `لم يقدّم مزوّد الخدمة الحقول المطلوبة: ${fields.join('، ')}.`,
    'wrong-former-password': 'كلمة المرور خاطئة. أدخل كلمة المرور التي كانت للحساب قبل هذا التغيير.',
    'undo-without-email':
      'البريد الإلكتروني الذي كان قبل هذا التغيير مستخدم في حساب آخر، لذا سيؤدي التراجع عن التغيير إلى بقاء حسابك بلا طريقة لتسجيل الدخول. تواصل مع الدعم.',
    'no-such-session-of-user': 'ليست لهذا المستخدم جلسة كهذه. ربما انتهت بالفعل.',
    'role-for-unproven-email':
      'لم يُثبت أحد أن البريد الإلكتروني لهذا المستخدم يخصّه، لذا قد يكون المستخدم شخصًا آخر. اطلب من المستخدم تأكيد البريد الإلكتروني أولًا.',
    'account-incomplete': 'الحساب غير مكتمل. راجع السجلّ لمعرفة الحل.',
    'schema-outdated': 'لا يطابق مخطط قاعدة البيانات هذا الإصدار. راجع السجلّ لمعرفة الحل.',
  },

  refusal: {
    field: (name: string | null, detail: string) =>
      `${name === null ? 'النموذج' : `الحقل ${name}`}: ${detail}`,
    // The duration is in the nominative, so it cannot follow a preposition.
    wait: (time: string) => `المدة المتبقية قبل المحاولة مرة أخرى: ${time}.`,
    start: 'الصفحة الرئيسية',
    back: (link: Html) => html`عُد إلى الصفحة السابقة، أو إلى ${link}.`,
  },
};
