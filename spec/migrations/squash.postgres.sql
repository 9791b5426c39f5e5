CREATE TABLE public.account_changes (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    kind character varying(32) NOT NULL,
    token_hash bytea,
    email character varying(254) COLLATE pg_catalog."C",
    state text,
    created_at timestamp(3) with time zone NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    ended boolean,
    device character varying(64),
    ip_address character varying(45)
);
CREATE TABLE public.accounts (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    provider character varying(64) NOT NULL COLLATE pg_catalog."C",
    issuer character varying(255) NOT NULL COLLATE pg_catalog."C",
    subject character varying(255) NOT NULL COLLATE pg_catalog."C",
    scopes text NOT NULL,
    token_type character varying(64),
    access_token text,
    refresh_token text,
    id_token text,
    access_token_expires_at timestamp(3) with time zone,
    relink_required boolean NOT NULL,
    refresh_lease uuid,
    refresh_lease_until timestamp(3) with time zone,
    refreshed_at timestamp(3) with time zone NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);
CREATE TABLE public.api_keys (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    name character varying(100) NOT NULL,
    start character varying(16) NOT NULL,
    key_hash bytea NOT NULL,
    scopes text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    expires_at timestamp(3) with time zone,
    last_used_at timestamp(3) with time zone
);
CREATE TABLE public.audit_events (
    id uuid NOT NULL,
    kind character varying(64) NOT NULL COLLATE pg_catalog."C",
    user_id uuid,
    ip_address character varying(45),
    user_agent character varying(255),
    details text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL
);
CREATE TABLE public.carried_sessions (
    old_hash bytea NOT NULL,
    token_hash bytea,
    sealed_token text,
    used_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    session_id uuid,
    auth_epoch integer,
    sealed_id text
);
CREATE TABLE public.emailed_sign_ins (
    token_hash bytea NOT NULL,
    link_hash bytea NOT NULL,
    salt bytea,
    email character varying(254) NOT NULL COLLATE pg_catalog."C",
    remembered boolean NOT NULL,
    asked_by uuid,
    sent_at timestamp(3) with time zone,
    auth_epoch integer,
    mails integer NOT NULL,
    tries integer NOT NULL,
    resends integer NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL
);
CREATE TABLE public.import_keys (
    id uuid NOT NULL,
    sealed_key text NOT NULL
);
CREATE TABLE public.imported_users (
    id uuid NOT NULL,
    source character varying(64) NOT NULL COLLATE pg_catalog."C",
    ref_hash bytea NOT NULL,
    ref text,
    is_number boolean,
    user_id uuid,
    changed character varying(255) DEFAULT ''::character varying NOT NULL,
    stamps text,
    created_at timestamp(3) with time zone NOT NULL
);
CREATE TABLE public.known_device_tokens (
    id uuid NOT NULL,
    device_id uuid NOT NULL,
    token_hash bytea NOT NULL,
    expires_at timestamp(3) with time zone
);
CREATE TABLE public.known_devices (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    token_hash bytea NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    last_used_at timestamp(3) with time zone NOT NULL,
    forgotten_at timestamp(3) with time zone,
    undo_token_hash bytea,
    kept boolean,
    token_until timestamp(3) with time zone,
    name character varying(64),
    dropped boolean
);
CREATE TABLE public.latchkey_migrations (
    name character varying(100) NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.oauth_flows (
    state_hash bytea NOT NULL,
    browser_hash bytea NOT NULL,
    provider character varying(64) NOT NULL COLLATE pg_catalog."C",
    session_id uuid,
    callback_url character varying(2048) NOT NULL,
    redirect_uri character varying(2048) NOT NULL,
    sealed text NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL
);
CREATE TABLE public.one_time_tokens (
    token_hash bytea NOT NULL,
    user_id uuid,
    purpose character varying(32) NOT NULL COLLATE pg_catalog."C",
    email character varying(254) NOT NULL COLLATE pg_catalog."C",
    expires_at timestamp(3) with time zone NOT NULL,
    auth_epoch integer
);
CREATE TABLE public.outbox (
    id uuid NOT NULL,
    lane character varying(64) NOT NULL COLLATE pg_catalog."C",
    kind character varying(64) NOT NULL,
    state character varying(16) NOT NULL COLLATE pg_catalog."C",
    content text,
    attempts integer NOT NULL,
    last_error character varying(255),
    created_at timestamp(3) with time zone NOT NULL,
    due_at timestamp(3) with time zone,
    give_up_at timestamp(3) with time zone NOT NULL,
    finished_at timestamp(3) with time zone,
    expires_at timestamp(3) with time zone NOT NULL
);
CREATE TABLE public.passkey_challenges (
    challenge_hash bytea NOT NULL,
    purpose character varying(16) NOT NULL COLLATE pg_catalog."C",
    binding_hash bytea NOT NULL,
    user_id uuid,
    user_handle character varying(64) COLLATE pg_catalog."C",
    expires_at timestamp(3) with time zone NOT NULL
);
CREATE TABLE public.passkeys (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    name character varying(100) NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    last_used_at timestamp(3) with time zone,
    device_type character varying(16) NOT NULL,
    backed_up boolean NOT NULL,
    transports text NOT NULL,
    credential_id text NOT NULL,
    credential_hash bytea NOT NULL,
    public_key text NOT NULL,
    user_handle character varying(64) NOT NULL COLLATE pg_catalog."C",
    counter bigint NOT NULL
);
CREATE TABLE public.pending_sign_ins (
    token_hash bytea NOT NULL,
    user_id uuid NOT NULL,
    auth_epoch integer NOT NULL,
    remembered boolean NOT NULL,
    amr character varying(100) NOT NULL,
    attempts character varying(320),
    expires_at timestamp(3) with time zone NOT NULL
);
CREATE TABLE public.rate_limits (
    key_hash bytea NOT NULL,
    hits integer NOT NULL,
    blocked_until timestamp(3) with time zone,
    expires_at timestamp(3) with time zone NOT NULL,
    reported boolean
);
CREATE TABLE public.recent_browsers (
    id uuid NOT NULL,
    user_id uuid,
    token_hash bytea NOT NULL,
    made_there boolean NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL
);
CREATE TABLE public.recovery_codes (
    code_hash bytea NOT NULL,
    user_id uuid NOT NULL,
    used_at timestamp(3) with time zone
);
CREATE TABLE public.removed_passkeys (
    id uuid NOT NULL,
    credential_hash bytea NOT NULL,
    user_id uuid NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL
);
CREATE TABLE public.sessions (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    token_hash bytea NOT NULL,
    auth_epoch integer NOT NULL,
    remembered boolean NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    authenticated_at timestamp(3) with time zone NOT NULL,
    last_active_at timestamp(3) with time zone NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    ip_address character varying(45),
    user_agent character varying(255),
    replaced_token_hash bytea,
    token_issued_at timestamp(3) with time zone,
    aal integer DEFAULT 1 NOT NULL,
    amr character varying(100) DEFAULT ''::character varying NOT NULL
);
CREATE TABLE public.totp_enrolments (
    session_id uuid NOT NULL,
    user_id uuid NOT NULL,
    secret text NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL
);
CREATE TABLE public.totp_secrets (
    user_id uuid NOT NULL,
    secret text NOT NULL,
    last_step integer NOT NULL,
    wrong_codes integer NOT NULL,
    warned_at timestamp(3) with time zone,
    confirmed_at timestamp(3) with time zone NOT NULL
);
CREATE TABLE public.unfinished_sign_ins (
    token_hash bytea NOT NULL,
    user_id uuid NOT NULL,
    auth_epoch integer NOT NULL,
    remembered boolean NOT NULL,
    amr character varying(100) NOT NULL,
    attempts character varying(320),
    step character varying(16) NOT NULL COLLATE pg_catalog."C",
    ip_address character varying(45),
    user_agent character varying(255),
    tries integer DEFAULT 0 NOT NULL,
    resends integer DEFAULT 0 NOT NULL,
    proves_email character varying(254) COLLATE pg_catalog."C",
    is_own boolean,
    expires_at timestamp(3) with time zone NOT NULL,
    salt bytea
);
CREATE TABLE public.users (
    id uuid NOT NULL,
    email character varying(254) COLLATE pg_catalog."C",
    username character varying(100) COLLATE pg_catalog."C",
    email_verified_at timestamp(3) with time zone,
    password_hash character varying(1024),
    auth_epoch integer DEFAULT 0 NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    mailbox_proved_at timestamp(3) with time zone,
    deleted_at timestamp(3) with time zone,
    suspended_at timestamp(3) with time zone,
    suspended_until timestamp(3) with time zone,
    suspension_reason character varying(255),
    second_factor_at timestamp(3) with time zone,
    plan character varying(255) DEFAULT 'free'::character varying,
    level integer DEFAULT '-3'::integer,
    ratio double precision DEFAULT 0.5,
    newsletter boolean DEFAULT false,
    since timestamp(3) with time zone DEFAULT '0999-12-31 23:59:59.123+00'::timestamp with time zone,
    settings text,
    bio text,
    nickname character varying(40),
    email_proof character varying(8) COLLATE pg_catalog."C",
    imported_at timestamp(3) with time zone,
    first_used_at timestamp(3) with time zone,
    sessions_ended_at timestamp(3) with time zone,
    username_display character varying(100) COLLATE pg_catalog."C",
    new_password_required_at timestamp(3) with time zone,
    passkey_factor boolean
);
INSERT INTO public.account_changes VALUES ('01900000-0000-7000-8000-000000000002', '01a20d5e-eca5-7560-8962-282ec38eac4f', 'password-changed', '\x0303030303030303030303030303030303030303030303030303030303030303', 'was@example.com', 'sealed', '2026-01-02 03:04:05.678+00', '2036-01-02 03:04:05.678+00', NULL, NULL, NULL);
INSERT INTO public.accounts VALUES ('01900000-0000-7000-8000-000000000004', '01a20d5e-eca5-7560-8962-282ec38eac4f', 'fixed', 'https://fixed.example', 'Ada ', 'openid email', 'bearer', 'sealed', 'sealed', 'sealed', '2026-01-02 03:04:05.678+00', false, '01900000-0000-7000-8000-000000000009', '2026-01-02 03:04:05.678+00', '2026-01-02 03:04:05.678+00', '2026-01-02 03:04:05.678+00', '2026-01-02 03:04:05.678+00');
INSERT INTO public.api_keys VALUES ('01a20d5e-ee02-7e6c-a6ee-3599a1dc667e', '01a20d5e-eca5-7560-8962-282ec38eac4f', 'program', 'lkk_0PEX7Izm', '\x49a72d3295db3956a0c2c7acc4757fd4d501f648428b9ba86be7982faee03813', 'read', '2026-11-24 11:44:14.85+00', NULL, NULL);
INSERT INTO public.audit_events VALUES ('01900000-0000-7000-8000-000000000005', 'sign_in.succeeded', '01a20d5e-eca5-7560-8962-282ec38eac4f', '192.0.2.1', 'spec', '{"a":1}', '2026-01-02 03:04:05.678+00');
INSERT INTO public.audit_events VALUES ('01a22426-f4f7-72b1-922c-76401a145118', 'sign_in.failed', '01a20d5e-eca5-7560-8962-282ec38eac4f', NULL, NULL, '{}', '2026-11-28 21:54:22.583+00');
INSERT INTO public.carried_sessions VALUES ('\x0606060606060606060606060606060606060606060606060606060606060606', '\x0707070707070707070707070707070707070707070707070707070707070707', 'sealed', '2026-01-02 03:04:05.678+00', '2026-01-02 03:04:05.678+00', '2036-01-02 03:04:05.678+00', NULL, NULL, NULL);
INSERT INTO public.emailed_sign_ins VALUES ('\x1919191919191919191919191919191919191919191919191919191919191919', '\x1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a', '\x1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b', 'ada@example.com', true, NULL, NULL, NULL, 1, 0, 0, '2036-01-02 03:04:05.678+00');
INSERT INTO public.import_keys VALUES ('00000000-0000-7000-8000-000000000000', 'v1.NhQJpW7y.jfT78G9xWjmdc2hohH-I1Uu_y99OIZzfuV_Cq8S3x_oARUS69B5OxbdBpwmbFA9O85aP4ryuC3Xcqs_o80brDTCqaPssbdoH');
INSERT INTO public.imported_users VALUES ('01a22426-f5bb-70ec-8fdd-63160b1a976f', 'rows', '\x27c0ff130e3f639e12f89f838ae39af04ef7185162accf73d629c8b7f79bd0ef', '7', true, '019b7ca9-8c88-738f-91fc-5850d9bf830d', '', '{"email":"NFvybeG6XDLDOM9_f6ueew","emailVerified":"T9ejiEvxMThYL3JZujVXNg"}', '2026-11-28 21:54:22.779+00');
INSERT INTO public.known_device_tokens VALUES ('01900000-0000-7000-8000-000000000020', '01900000-0000-7000-8000-000000000001', '\x1414141414141414141414141414141414141414141414141414141414141414', NULL);
INSERT INTO public.known_devices VALUES ('01900000-0000-7000-8000-000000000001', '01a20d5e-eca5-7560-8962-282ec38eac4f', '\x0101010101010101010101010101010101010101010101010101010101010101', '2026-01-02 03:04:05.678+00', '2026-01-02 03:04:05.678+00', '2026-01-02 03:04:05.678+00', '\x0202020202020202020202020202020202020202020202020202020202020202', true, NULL, NULL, true);
INSERT INTO public.latchkey_migrations VALUES ('0001-core');
INSERT INTO public.latchkey_migrations VALUES ('0001-apiKeys');
INSERT INTO public.latchkey_migrations VALUES ('0001-auditLog');
INSERT INTO public.latchkey_migrations VALUES ('0001-oauth');
INSERT INTO public.latchkey_migrations VALUES ('0001-passkeys');
INSERT INTO public.latchkey_migrations VALUES ('0001-suspension');
INSERT INTO public.latchkey_migrations VALUES ('0001-twoFactor');
INSERT INTO public.latchkey_migrations VALUES ('0002-emailSignIn');
INSERT INTO public.latchkey_migrations VALUES ('0002-core');
INSERT INTO public.latchkey_migrations VALUES ('0003-core');
INSERT INTO public.latchkey_migrations VALUES ('0004-core');
INSERT INTO public.latchkey_migrations VALUES ('0005-core');
INSERT INTO public.latchkey_migrations VALUES ('0006-core');
INSERT INTO public.latchkey_migrations VALUES ('0007-core');
INSERT INTO public.latchkey_migrations VALUES ('0008-core');
INSERT INTO public.latchkey_migrations VALUES ('0001-emailSignIn');
INSERT INTO public.latchkey_migrations VALUES ('0002-passkeys');
INSERT INTO public.latchkey_migrations VALUES ('0002-twoFactor');
INSERT INTO public.oauth_flows VALUES ('\x0909090909090909090909090909090909090909090909090909090909090909', '\x0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a', 'fixed', '01a20d5e-ed82-751a-bf71-013b59d1b62a', '/', 'http://app.example.com/cb', 'sealed', '2036-01-02 03:04:05.678+00');
INSERT INTO public.one_time_tokens VALUES ('\x0404040404040404040404040404040404040404040404040404040404040404', '01a20d5e-eca5-7560-8962-282ec38eac4f', 'reset-password', 'ada@example.com', '2036-01-02 03:04:05.678+00', 0);
INSERT INTO public.one_time_tokens VALUES ('\x0505050505050505050505050505050505050505050505050505050505050505', NULL, 'reset-password', 'nobody@example.com', '2036-01-02 03:04:05.678+00', NULL);
INSERT INTO public.outbox VALUES ('01900000-0000-7000-8000-000000000003', 'mail', 'new-device', 'sent', NULL, 1, 'late', '2026-01-02 03:04:05.678+00', NULL, '2026-01-02 03:04:05.678+00', '2026-01-02 03:04:05.678+00', '2036-01-02 03:04:05.678+00');
INSERT INTO public.passkey_challenges VALUES ('\x0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c', 'add', '\x0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d', '01a20d5e-eca5-7560-8962-282ec38eac4f', 'AAEC', '2036-01-02 03:04:05.678+00');
INSERT INTO public.passkeys VALUES ('01900000-0000-7000-8000-000000000006', '01a20d5e-eca5-7560-8962-282ec38eac4f', 'phone', '2026-01-02 03:04:05.678+00', '2026-01-02 03:04:05.678+00', 'multiDevice', true, 'internal usb', 'AAEC', '\x0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b', 'AAEC', 'AAEC', 4294967295);
INSERT INTO public.pending_sign_ins VALUES ('\x0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f', '01a20d5e-eca5-7560-8962-282ec38eac4f', 0, true, 'pwd', 'account:ada', '2036-01-02 03:04:05.678+00');
INSERT INTO public.rate_limits VALUES ('\x0808080808080808080808080808080808080808080808080808080808080808', 3, '2026-01-02 03:04:05.678+00', '2036-01-02 03:04:05.678+00', true);
INSERT INTO public.recent_browsers VALUES ('01900000-0000-7000-8000-000000000021', '01a20d5e-eca5-7560-8962-282ec38eac4f', '\x1515151515151515151515151515151515151515151515151515151515151515', true, '2036-01-02 03:04:05.678+00');
INSERT INTO public.recovery_codes VALUES ('\x0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e', '01a20d5e-ed0c-75ba-9858-70a816866880', '2026-01-02 03:04:05.678+00');
INSERT INTO public.removed_passkeys VALUES ('01900000-0000-7000-8000-000000000024', '\x1818181818181818181818181818181818181818181818181818181818181818', '01a20d5e-eca5-7560-8962-282ec38eac4f', '2036-01-02 03:04:05.678+00');
INSERT INTO public.sessions VALUES ('01a20d5e-ed82-751a-bf71-013b59d1b62a', '01a20d5e-eca5-7560-8962-282ec38eac4f', '\x6eff83a7de4800842389c08fd9700311cc7c442782e5e56850566095a655e268', 0, false, '2026-11-24 11:44:14.722+00', '2026-11-24 11:44:14.722+00', '2026-11-24 11:44:14.722+00', '2026-11-25 11:44:14.722+00', NULL, NULL, NULL, '2026-11-24 11:44:14.722+00', 1, 'pwd');
INSERT INTO public.totp_enrolments VALUES ('01a20d5e-ed82-751a-bf71-013b59d1b62a', '01a20d5e-eca5-7560-8962-282ec38eac4f', 'sealed', '2036-01-02 03:04:05.678+00');
INSERT INTO public.totp_secrets VALUES ('01a20d5e-ed0c-75ba-9858-70a816866880', 'sealed', 1, 2, '2026-01-02 03:04:05.678+00', '2026-01-02 03:04:05.678+00');
INSERT INTO public.unfinished_sign_ins VALUES ('\x1616161616161616161616161616161616161616161616161616161616161616', '01a20d5e-eca5-7560-8962-282ec38eac4f', 0, true, 'pwd', NULL, 'email_code', NULL, NULL, 0, 0, NULL, NULL, '2036-01-02 03:04:05.678+00', '\x1717171717171717171717171717171717171717171717171717171717171717');
INSERT INTO public.users VALUES ('01a20d5e-eca5-7560-8962-282ec38eac4f', 'ada@example.com', 'ada', '2026-11-24 11:44:14.501+00', '$bcrypt-hmac-sha384$2b$04$822Y9tUHdV9sgdQNnOydROmCNfoNW.RDnv8c9meDQK4nxQBSuNCY.', 0, '2026-11-24 11:44:14.501+00', '2026-11-24 11:44:14.501+00', '2026-11-24 11:44:14.501+00', NULL, NULL, NULL, NULL, NULL, 'free', -3, 0.5, false, '0999-12-31 23:59:59.123+00', NULL, 'long', 'é ü €', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.users VALUES ('01a20d5e-ed0c-75ba-9858-70a816866880', 'bob@example.com', NULL, NULL, '$bcrypt-hmac-sha384$2b$04$aBwIkFiDfkEHLji9Gull5Oz6XRCw37gkK7dc/MuhwfpyiVyEh2.I6', 1, '2026-11-24 11:44:14.604+00', '2026-11-24 11:44:14.604+00', NULL, NULL, '2026-11-24 11:44:14.632+00', NULL, 'spam', NULL, 'free', -3, 0.5, false, '0999-12-31 23:59:59.123+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.users VALUES ('019b7ca9-8c88-738f-91fc-5850d9bf830d', 'grace@example.com', NULL, '2026-11-28 21:54:22.774+00', NULL, 0, '2026-01-02 03:04:05+00', '2026-11-28 21:54:22.774+00', '2026-11-28 21:54:22.774+00', NULL, NULL, NULL, NULL, NULL, 'free', -3, 0.5, false, '0999-12-31 23:59:59.123+00', NULL, NULL, NULL, 'mailbox', '2026-11-28 21:54:22.744+00', NULL, NULL, NULL, NULL, NULL);
ALTER TABLE ONLY public.account_changes
    ADD CONSTRAINT account_changes_pk PRIMARY KEY (id);
ALTER TABLE ONLY public.account_changes
    ADD CONSTRAINT account_changes_token_hash_unique UNIQUE (token_hash);
ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_issuer_subject_unique UNIQUE (issuer, subject);
ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_pk PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_user_id_provider_unique UNIQUE (user_id, provider);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_key_hash_unique UNIQUE (key_hash);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pk PRIMARY KEY (id);
ALTER TABLE ONLY public.audit_events
    ADD CONSTRAINT audit_events_pk PRIMARY KEY (id);
ALTER TABLE ONLY public.carried_sessions
    ADD CONSTRAINT carried_sessions_pk PRIMARY KEY (old_hash);
ALTER TABLE ONLY public.emailed_sign_ins
    ADD CONSTRAINT emailed_sign_ins_link_hash_unique UNIQUE (link_hash);
ALTER TABLE ONLY public.emailed_sign_ins
    ADD CONSTRAINT emailed_sign_ins_pk PRIMARY KEY (token_hash);
ALTER TABLE ONLY public.import_keys
    ADD CONSTRAINT import_keys_pk PRIMARY KEY (id);
ALTER TABLE ONLY public.imported_users
    ADD CONSTRAINT imported_users_pk PRIMARY KEY (id);
ALTER TABLE ONLY public.imported_users
    ADD CONSTRAINT imported_users_ref_unique UNIQUE (ref_hash, source);
ALTER TABLE ONLY public.known_device_tokens
    ADD CONSTRAINT known_device_tokens_pk PRIMARY KEY (id);
ALTER TABLE ONLY public.known_device_tokens
    ADD CONSTRAINT known_device_tokens_token_hash_unique UNIQUE (token_hash, device_id);
ALTER TABLE ONLY public.known_devices
    ADD CONSTRAINT known_devices_pk PRIMARY KEY (id);
ALTER TABLE ONLY public.known_devices
    ADD CONSTRAINT known_devices_token_hash_unique UNIQUE (token_hash, user_id);
ALTER TABLE ONLY public.latchkey_migrations
    ADD CONSTRAINT latchkey_migrations_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.oauth_flows
    ADD CONSTRAINT oauth_flows_pk PRIMARY KEY (state_hash);
ALTER TABLE ONLY public.one_time_tokens
    ADD CONSTRAINT one_time_tokens_pk PRIMARY KEY (token_hash);
ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_pk PRIMARY KEY (id);
ALTER TABLE ONLY public.passkey_challenges
    ADD CONSTRAINT passkey_challenges_pk PRIMARY KEY (challenge_hash);
ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_credential_hash_unique UNIQUE (credential_hash);
ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_pk PRIMARY KEY (id);
ALTER TABLE ONLY public.pending_sign_ins
    ADD CONSTRAINT pending_sign_ins_pk PRIMARY KEY (token_hash);
ALTER TABLE ONLY public.rate_limits
    ADD CONSTRAINT rate_limits_pk PRIMARY KEY (key_hash);
ALTER TABLE ONLY public.recent_browsers
    ADD CONSTRAINT recent_browsers_pk PRIMARY KEY (id);
ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_pk PRIMARY KEY (code_hash);
ALTER TABLE ONLY public.removed_passkeys
    ADD CONSTRAINT removed_passkeys_pk PRIMARY KEY (id);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pk PRIMARY KEY (id);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_token_hash_unique UNIQUE (token_hash);
ALTER TABLE ONLY public.totp_enrolments
    ADD CONSTRAINT totp_enrolments_pk PRIMARY KEY (session_id);
ALTER TABLE ONLY public.totp_secrets
    ADD CONSTRAINT totp_secrets_pk PRIMARY KEY (user_id);
ALTER TABLE ONLY public.unfinished_sign_ins
    ADD CONSTRAINT unfinished_sign_ins_pk PRIMARY KEY (token_hash);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_email_unique UNIQUE (email);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pk PRIMARY KEY (id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_username_unique UNIQUE (username);
CREATE INDEX account_changes_email ON public.account_changes USING btree (email);
CREATE INDEX account_changes_ended ON public.account_changes USING btree (ended, expires_at);
CREATE INDEX account_changes_expires_at ON public.account_changes USING btree (expires_at);
CREATE INDEX account_changes_user_id ON public.account_changes USING btree (user_id, created_at);
CREATE INDEX api_keys_user_id ON public.api_keys USING btree (user_id);
CREATE INDEX audit_events_created_at ON public.audit_events USING btree (created_at);
CREATE INDEX audit_events_kind ON public.audit_events USING btree (kind, id);
CREATE INDEX audit_events_user_id ON public.audit_events USING btree (user_id, id);
CREATE INDEX carried_sessions_expires_at ON public.carried_sessions USING btree (expires_at);
CREATE INDEX carried_sessions_session_id ON public.carried_sessions USING btree (session_id);
CREATE INDEX emailed_sign_ins_email ON public.emailed_sign_ins USING btree (email);
CREATE INDEX emailed_sign_ins_expires_at ON public.emailed_sign_ins USING btree (expires_at);
CREATE INDEX imported_users_source ON public.imported_users USING btree (source, id);
CREATE INDEX imported_users_user_id ON public.imported_users USING btree (user_id);
CREATE INDEX known_device_tokens_device_id ON public.known_device_tokens USING btree (device_id);
CREATE INDEX known_device_tokens_expires_at ON public.known_device_tokens USING btree (expires_at);
CREATE INDEX known_devices_forgotten ON public.known_devices USING btree (kept, forgotten_at);
CREATE INDEX known_devices_undo_token_hash ON public.known_devices USING btree (undo_token_hash);
CREATE INDEX known_devices_unused ON public.known_devices USING btree (kept, last_used_at);
CREATE INDEX known_devices_user_id ON public.known_devices USING btree (user_id, last_used_at);
CREATE INDEX oauth_flows_expires_at ON public.oauth_flows USING btree (expires_at);
CREATE INDEX one_time_tokens_expires_at ON public.one_time_tokens USING btree (expires_at);
CREATE INDEX one_time_tokens_user_id ON public.one_time_tokens USING btree (user_id);
CREATE INDEX outbox_due_at ON public.outbox USING btree (lane, due_at);
CREATE INDEX outbox_expires_at ON public.outbox USING btree (expires_at);
CREATE INDEX outbox_state ON public.outbox USING btree (state, id);
CREATE INDEX passkey_challenges_expires_at ON public.passkey_challenges USING btree (expires_at);
CREATE INDEX passkey_challenges_user_id ON public.passkey_challenges USING btree (user_id);
CREATE INDEX passkeys_user_id ON public.passkeys USING btree (user_id);
CREATE INDEX pending_sign_ins_expires_at ON public.pending_sign_ins USING btree (expires_at);
CREATE INDEX pending_sign_ins_user_id ON public.pending_sign_ins USING btree (user_id);
CREATE INDEX rate_limits_expires_at ON public.rate_limits USING btree (expires_at);
CREATE INDEX recent_browsers_expires_at ON public.recent_browsers USING btree (expires_at);
CREATE INDEX recent_browsers_token_hash ON public.recent_browsers USING btree (token_hash);
CREATE INDEX recent_browsers_user_id ON public.recent_browsers USING btree (user_id);
CREATE INDEX recovery_codes_used_at ON public.recovery_codes USING btree (used_at);
CREATE INDEX recovery_codes_user_id ON public.recovery_codes USING btree (user_id);
CREATE INDEX removed_passkeys_credential_hash ON public.removed_passkeys USING btree (credential_hash);
CREATE INDEX removed_passkeys_expires_at ON public.removed_passkeys USING btree (expires_at);
CREATE INDEX removed_passkeys_user_id ON public.removed_passkeys USING btree (user_id);
CREATE INDEX sessions_expires_at ON public.sessions USING btree (expires_at);
CREATE INDEX sessions_last_active_at ON public.sessions USING btree (last_active_at);
CREATE INDEX sessions_replaced_token_hash ON public.sessions USING btree (replaced_token_hash);
CREATE INDEX sessions_user_id ON public.sessions USING btree (user_id);
CREATE INDEX totp_enrolments_expires_at ON public.totp_enrolments USING btree (expires_at);
CREATE INDEX totp_enrolments_user_id ON public.totp_enrolments USING btree (user_id);
CREATE INDEX unfinished_sign_ins_expires_at ON public.unfinished_sign_ins USING btree (expires_at);
CREATE INDEX unfinished_sign_ins_user_id ON public.unfinished_sign_ins USING btree (user_id);
CREATE INDEX users_deleted_at ON public.users USING btree (deleted_at);
CREATE INDEX users_search ON public.users USING btree (id, email, username);
ALTER TABLE ONLY public.account_changes
    ADD CONSTRAINT account_changes_user_id_fk FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_user_id_fk FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_user_id_fk FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.known_device_tokens
    ADD CONSTRAINT known_device_tokens_device_id_fk FOREIGN KEY (device_id) REFERENCES public.known_devices(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.known_devices
    ADD CONSTRAINT known_devices_user_id_fk FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.one_time_tokens
    ADD CONSTRAINT one_time_tokens_user_id_fk FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.passkey_challenges
    ADD CONSTRAINT passkey_challenges_user_id_fk FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_user_id_fk FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.pending_sign_ins
    ADD CONSTRAINT pending_sign_ins_user_id_fk FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.recent_browsers
    ADD CONSTRAINT recent_browsers_user_id_fk FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_user_id_fk FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.removed_passkeys
    ADD CONSTRAINT removed_passkeys_user_id_fk FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_user_id_fk FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.totp_enrolments
    ADD CONSTRAINT totp_enrolments_session_id_fk FOREIGN KEY (session_id) REFERENCES public.sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.totp_enrolments
    ADD CONSTRAINT totp_enrolments_user_id_fk FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.totp_secrets
    ADD CONSTRAINT totp_secrets_user_id_fk FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.unfinished_sign_ins
    ADD CONSTRAINT unfinished_sign_ins_user_id_fk FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
