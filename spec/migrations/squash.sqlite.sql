CREATE TABLE latchkey_migrations (name VARCHAR(100) COLLATE BINARY NOT NULL PRIMARY KEY);
INSERT INTO latchkey_migrations VALUES('0001-core');
INSERT INTO latchkey_migrations VALUES('0001-apiKeys');
INSERT INTO latchkey_migrations VALUES('0001-auditLog');
INSERT INTO latchkey_migrations VALUES('0001-oauth');
INSERT INTO latchkey_migrations VALUES('0001-passkeys');
INSERT INTO latchkey_migrations VALUES('0001-suspension');
INSERT INTO latchkey_migrations VALUES('0001-twoFactor');
INSERT INTO latchkey_migrations VALUES('0002-emailSignIn');
INSERT INTO latchkey_migrations VALUES('0002-core');
INSERT INTO latchkey_migrations VALUES('0003-core');
INSERT INTO latchkey_migrations VALUES('0004-core');
INSERT INTO latchkey_migrations VALUES('0005-core');
INSERT INTO latchkey_migrations VALUES('0006-core');
INSERT INTO latchkey_migrations VALUES('0007-core');
INSERT INTO latchkey_migrations VALUES('0008-core');
INSERT INTO latchkey_migrations VALUES('0001-emailSignIn');
INSERT INTO latchkey_migrations VALUES('0002-passkeys');
INSERT INTO latchkey_migrations VALUES('0002-twoFactor');
CREATE TABLE users (
        id CHAR(36) NOT NULL,
        email VARCHAR(254) COLLATE BINARY NULL,
        username VARCHAR(30) COLLATE BINARY NULL,
        email_verified_at DATETIME NULL,
        password_hash VARCHAR(255) NULL,
        auth_epoch INTEGER NOT NULL DEFAULT 0,
        created_at DATETIME NOT NULL,
        updated_at DATETIME NOT NULL, mailbox_proved_at DATETIME NULL, deleted_at DATETIME NULL, suspended_at DATETIME NULL, suspended_until DATETIME NULL, suspension_reason VARCHAR(255) NULL, second_factor_at DATETIME NULL, "plan" VARCHAR(255) NULL DEFAULT 'free', "level" INTEGER NULL DEFAULT -3, "ratio" DOUBLE PRECISION NULL DEFAULT 0.5, "newsletter" TINYINT(1) NULL DEFAULT 0, "since" DATETIME NULL DEFAULT '0999-12-31 23:59:59.123 +00:00', "settings" TEXT NULL, "bio" TEXT NULL, "nickname" VARCHAR(40) NULL, email_proof VARCHAR(8) COLLATE BINARY NULL, imported_at DATETIME NULL, first_used_at DATETIME NULL, sessions_ended_at DATETIME NULL, username_display VARCHAR(100) COLLATE BINARY NULL, new_password_required_at DATETIME NULL, passkey_factor TINYINT(1) NULL,
        CONSTRAINT users_pk PRIMARY KEY (id),
        CONSTRAINT users_email_unique UNIQUE (email),
        CONSTRAINT users_username_unique UNIQUE (username)
      );
INSERT INTO users VALUES('01a20d5e-7a5c-7a44-8bdd-bbfbb1616246','ada@example.com','ada','2026-11-24 11:43:45.244 +00:00','$bcrypt-hmac-sha384$2b$04$RO9FcHWj.2eaKTqvlIxwXuT67aBpDR/wrLUX/w2xHglPco6GmdLni',0,'2026-11-24 11:43:45.244 +00:00','2026-11-24 11:43:45.244 +00:00','2026-11-24 11:43:45.244 +00:00',NULL,NULL,NULL,NULL,NULL,'free',-3,0.5,0,'0999-12-31 23:59:59.123 +00:00',NULL,'long','é ü €',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO users VALUES('01a20d5e-7a6c-7698-af15-051fd31e8e9d','bob@example.com',NULL,NULL,'$bcrypt-hmac-sha384$2b$04$NINVa7ZnrtcyLbmYGcNKSuv6.ywsbgER8n699Xp5BCiZ8u1DEpUc6',1,'2026-11-24 11:43:45.260 +00:00','2026-11-24 11:43:45.260 +00:00',NULL,NULL,'2026-11-24 11:43:45.265 +00:00',NULL,'spam',NULL,'free',-3,0.5,0,'0999-12-31 23:59:59.123 +00:00',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO users VALUES('019b7ca9-8c88-738f-91fc-5850d9bf830d','grace@example.com',NULL,'2026-11-28 21:54:21.047 +00:00',NULL,0,'2026-01-02 03:04:05.000 +00:00','2026-11-28 21:54:21.047 +00:00','2026-11-28 21:54:21.047 +00:00',NULL,NULL,NULL,NULL,NULL,'free',-3,0.5,0,'0999-12-31 23:59:59.123 +00:00',NULL,NULL,NULL,'mailbox','2026-11-28 21:54:21.032 +00:00',NULL,NULL,NULL,NULL,NULL);
CREATE TABLE sessions (
        id CHAR(36) NOT NULL,
        user_id CHAR(36) NOT NULL,
        token_hash BLOB NOT NULL,
        auth_epoch INTEGER NOT NULL,
        remembered TINYINT(1) NOT NULL,
        created_at DATETIME NOT NULL,
        authenticated_at DATETIME NOT NULL,
        last_active_at DATETIME NOT NULL,
        expires_at DATETIME NOT NULL,
        ip_address VARCHAR(45) NULL,
        user_agent VARCHAR(255) NULL, replaced_token_hash BLOB NULL, token_issued_at DATETIME NULL, aal INTEGER NOT NULL DEFAULT 1, amr VARCHAR(100) NOT NULL DEFAULT '',
        CONSTRAINT sessions_pk PRIMARY KEY (id),
        CONSTRAINT sessions_token_hash_unique UNIQUE (token_hash),
        CONSTRAINT sessions_user_id_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
      );
INSERT INTO sessions VALUES('01a20d5e-7a7a-7581-b84c-19b1926a3bb9','01a20d5e-7a5c-7a44-8bdd-bbfbb1616246',X'f79e994212cd68be067e46b752f3a7889b2805e0314e48afff3f004512fff6b1',0,0,'2026-11-24 11:43:45.274 +00:00','2026-11-24 11:43:45.274 +00:00','2026-11-24 11:43:45.274 +00:00','2026-11-25 11:43:45.274 +00:00',NULL,NULL,NULL,'2026-11-24 11:43:45.274 +00:00',1,'pwd');
CREATE TABLE known_devices (
        id CHAR(36) NOT NULL,
        user_id CHAR(36) NOT NULL,
        token_hash BLOB NOT NULL,
        created_at DATETIME NOT NULL,
        last_used_at DATETIME NOT NULL, forgotten_at DATETIME NULL, undo_token_hash BLOB NULL, kept TINYINT(1) NULL, token_until DATETIME NULL, name VARCHAR(64) NULL, dropped TINYINT(1) NULL,
        CONSTRAINT known_devices_pk PRIMARY KEY (id),
        CONSTRAINT known_devices_token_hash_unique UNIQUE (token_hash, user_id),
        CONSTRAINT known_devices_user_id_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
      );
INSERT INTO known_devices VALUES('01900000-0000-7000-8000-000000000001','01a20d5e-7a5c-7a44-8bdd-bbfbb1616246',X'0101010101010101010101010101010101010101010101010101010101010101','2026-01-02 03:04:05.678 +00:00','2026-01-02 03:04:05.678 +00:00','2026-01-02 03:04:05.678 +00:00',X'0202020202020202020202020202020202020202020202020202020202020202',1,NULL,NULL,1);
CREATE TABLE account_changes (
        id CHAR(36) NOT NULL,
        user_id CHAR(36) NOT NULL,
        kind VARCHAR(32) NOT NULL,
        token_hash BLOB NULL,
        email VARCHAR(254) COLLATE BINARY NULL,
        state TEXT NULL,
        created_at DATETIME NOT NULL,
        expires_at DATETIME NOT NULL, ended TINYINT(1) NULL, device VARCHAR(64) NULL, ip_address VARCHAR(45) NULL,
        CONSTRAINT account_changes_pk PRIMARY KEY (id),
        CONSTRAINT account_changes_token_hash_unique UNIQUE (token_hash),
        CONSTRAINT account_changes_user_id_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
      );
INSERT INTO account_changes VALUES('01900000-0000-7000-8000-000000000002','01a20d5e-7a5c-7a44-8bdd-bbfbb1616246','password-changed',X'0303030303030303030303030303030303030303030303030303030303030303','was@example.com','sealed','2026-01-02 03:04:05.678 +00:00','2036-01-02 03:04:05.678 +00:00',NULL,NULL,NULL);
CREATE TABLE IF NOT EXISTS "one_time_tokens" (
      token_hash BLOB NOT NULL,
      user_id CHAR(36) NULL,
      purpose VARCHAR(32) COLLATE BINARY NOT NULL,
      email VARCHAR(254) COLLATE BINARY NOT NULL,
      expires_at DATETIME NOT NULL, auth_epoch INTEGER NULL,
      CONSTRAINT one_time_tokens_pk PRIMARY KEY (token_hash),
      CONSTRAINT one_time_tokens_user_id_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
    );
INSERT INTO one_time_tokens VALUES(X'0404040404040404040404040404040404040404040404040404040404040404','01a20d5e-7a5c-7a44-8bdd-bbfbb1616246','reset-password','ada@example.com','2036-01-02 03:04:05.678 +00:00',0);
INSERT INTO one_time_tokens VALUES(X'0505050505050505050505050505050505050505050505050505050505050505',NULL,'reset-password','nobody@example.com','2036-01-02 03:04:05.678 +00:00',NULL);
CREATE TABLE carried_sessions (
        old_hash BLOB NOT NULL,
        token_hash BLOB NULL,
        sealed_token TEXT NULL,
        used_at DATETIME NULL,
        created_at DATETIME NOT NULL,
        expires_at DATETIME NOT NULL, session_id CHAR(36) NULL, auth_epoch INTEGER NULL, sealed_id TEXT NULL,
        CONSTRAINT carried_sessions_pk PRIMARY KEY (old_hash)
      );
INSERT INTO carried_sessions VALUES(X'0606060606060606060606060606060606060606060606060606060606060606',X'0707070707070707070707070707070707070707070707070707070707070707','sealed','2026-01-02 03:04:05.678 +00:00','2026-01-02 03:04:05.678 +00:00','2036-01-02 03:04:05.678 +00:00',NULL,NULL,NULL);
CREATE TABLE outbox (
        id CHAR(36) NOT NULL,
        lane VARCHAR(64) COLLATE BINARY NOT NULL,
        kind VARCHAR(64) NOT NULL,
        state VARCHAR(16) COLLATE BINARY NOT NULL,
        content TEXT NULL,
        attempts INTEGER NOT NULL,
        last_error VARCHAR(255) NULL,
        created_at DATETIME NOT NULL,
        due_at DATETIME NULL,
        give_up_at DATETIME NOT NULL,
        finished_at DATETIME NULL,
        expires_at DATETIME NOT NULL,
        CONSTRAINT outbox_pk PRIMARY KEY (id)
      );
INSERT INTO outbox VALUES('01900000-0000-7000-8000-000000000003','mail','new-device','sent',NULL,1,'late','2026-01-02 03:04:05.678 +00:00',NULL,'2026-01-02 03:04:05.678 +00:00','2026-01-02 03:04:05.678 +00:00','2036-01-02 03:04:05.678 +00:00');
CREATE TABLE rate_limits (
        key_hash BLOB NOT NULL,
        hits INTEGER NOT NULL,
        blocked_until DATETIME NULL,
        expires_at DATETIME NOT NULL, reported TINYINT(1) NULL,
        CONSTRAINT rate_limits_pk PRIMARY KEY (key_hash)
      );
INSERT INTO rate_limits VALUES(X'0808080808080808080808080808080808080808080808080808080808080808',3,'2026-01-02 03:04:05.678 +00:00','2036-01-02 03:04:05.678 +00:00',1);
CREATE TABLE accounts (
        id CHAR(36) NOT NULL,
        user_id CHAR(36) NOT NULL,
        provider VARCHAR(64) COLLATE BINARY NOT NULL,
        issuer VARCHAR(255) COLLATE BINARY NOT NULL,
        subject VARCHAR(255) COLLATE BINARY NOT NULL,
        scopes TEXT NOT NULL,
        token_type VARCHAR(64) NULL,
        access_token TEXT NULL,
        refresh_token TEXT NULL,
        id_token TEXT NULL,
        access_token_expires_at DATETIME NULL,
        relink_required TINYINT(1) NOT NULL,
        refresh_lease CHAR(36) NULL,
        refresh_lease_until DATETIME NULL,
        refreshed_at DATETIME NOT NULL,
        created_at DATETIME NOT NULL,
        updated_at DATETIME NOT NULL,
        CONSTRAINT accounts_pk PRIMARY KEY (id),
        CONSTRAINT accounts_issuer_subject_unique UNIQUE (issuer, subject),
        CONSTRAINT accounts_user_id_provider_unique UNIQUE (user_id, provider),
        CONSTRAINT accounts_user_id_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
      );
INSERT INTO accounts VALUES('01900000-0000-7000-8000-000000000004','01a20d5e-7a5c-7a44-8bdd-bbfbb1616246','fixed','https://fixed.example','Ada ','openid email','bearer','sealed','sealed','sealed','2026-01-02 03:04:05.678 +00:00',0,'01900000-0000-7000-8000-000000000009','2026-01-02 03:04:05.678 +00:00','2026-01-02 03:04:05.678 +00:00','2026-01-02 03:04:05.678 +00:00','2026-01-02 03:04:05.678 +00:00');
CREATE TABLE oauth_flows (
        state_hash BLOB NOT NULL,
        browser_hash BLOB NOT NULL,
        provider VARCHAR(64) COLLATE BINARY NOT NULL,
        session_id CHAR(36) NULL,
        callback_url VARCHAR(2048) NOT NULL,
        redirect_uri VARCHAR(2048) NOT NULL,
        sealed TEXT NOT NULL,
        expires_at DATETIME NOT NULL,
        CONSTRAINT oauth_flows_pk PRIMARY KEY (state_hash)
      );
INSERT INTO oauth_flows VALUES(X'0909090909090909090909090909090909090909090909090909090909090909',X'0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a','fixed','01a20d5e-7a7a-7581-b84c-19b1926a3bb9','/','http://app.example.com/cb','sealed','2036-01-02 03:04:05.678 +00:00');
CREATE TABLE api_keys (
        id CHAR(36) NOT NULL,
        user_id CHAR(36) NOT NULL,
        name VARCHAR(100) NOT NULL,
        start VARCHAR(16) NOT NULL,
        key_hash BLOB NOT NULL,
        scopes TEXT NOT NULL,
        created_at DATETIME NOT NULL,
        expires_at DATETIME NULL,
        last_used_at DATETIME NULL,
        CONSTRAINT api_keys_pk PRIMARY KEY (id),
        CONSTRAINT api_keys_key_hash_unique UNIQUE (key_hash),
        CONSTRAINT api_keys_user_id_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
      );
INSERT INTO api_keys VALUES('01a20d5e-7aa0-70d1-8fca-a031b94175a1','01a20d5e-7a5c-7a44-8bdd-bbfbb1616246','program','lkk_SbuBs30Y',X'19f23be3e33024ae317842e7fcd3d0729f18ef796ec377aa24f525b8cf880de0','read','2026-11-24 11:43:45.312 +00:00',NULL,NULL);
CREATE TABLE audit_events (
        id CHAR(36) NOT NULL,
        kind VARCHAR(64) COLLATE BINARY NOT NULL,
        user_id CHAR(36) NULL,
        ip_address VARCHAR(45) NULL,
        user_agent VARCHAR(255) NULL,
        details TEXT NOT NULL,
        created_at DATETIME NOT NULL,
        CONSTRAINT audit_events_pk PRIMARY KEY (id)
      );
INSERT INTO audit_events VALUES('01900000-0000-7000-8000-000000000005','sign_in.succeeded','01a20d5e-7a5c-7a44-8bdd-bbfbb1616246','192.0.2.1','spec','{"a":1}','2026-01-02 03:04:05.678 +00:00');
INSERT INTO audit_events VALUES('01a22426-eeaf-73f0-95a6-7bb097a160a0','sign_in.failed','01a20d5e-7a5c-7a44-8bdd-bbfbb1616246',NULL,NULL,'{}','2026-11-28 21:54:20.975 +00:00');
CREATE TABLE passkeys (
        id CHAR(36) NOT NULL,
        user_id CHAR(36) NOT NULL,
        name VARCHAR(100) NOT NULL,
        created_at DATETIME NOT NULL,
        last_used_at DATETIME NULL,
        device_type VARCHAR(16) NOT NULL,
        backed_up TINYINT(1) NOT NULL,
        transports TEXT NOT NULL,
        credential_id TEXT NOT NULL,
        credential_hash BLOB NOT NULL,
        public_key TEXT NOT NULL,
        user_handle VARCHAR(64) COLLATE BINARY NOT NULL,
        counter BIGINT NOT NULL,
        CONSTRAINT passkeys_pk PRIMARY KEY (id),
        CONSTRAINT passkeys_credential_hash_unique UNIQUE (credential_hash),
        CONSTRAINT passkeys_user_id_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
      );
INSERT INTO passkeys VALUES('01900000-0000-7000-8000-000000000006','01a20d5e-7a5c-7a44-8bdd-bbfbb1616246','phone','2026-01-02 03:04:05.678 +00:00','2026-01-02 03:04:05.678 +00:00','multiDevice',1,'internal usb','AAEC',X'0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b','AAEC','AAEC',4294967295);
CREATE TABLE passkey_challenges (
        challenge_hash BLOB NOT NULL,
        purpose VARCHAR(16) COLLATE BINARY NOT NULL,
        binding_hash BLOB NOT NULL,
        user_id CHAR(36) NULL,
        user_handle VARCHAR(64) COLLATE BINARY NULL,
        expires_at DATETIME NOT NULL,
        CONSTRAINT passkey_challenges_pk PRIMARY KEY (challenge_hash),
        CONSTRAINT passkey_challenges_user_id_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
      );
INSERT INTO passkey_challenges VALUES(X'0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c','add',X'0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d','01a20d5e-7a5c-7a44-8bdd-bbfbb1616246','AAEC','2036-01-02 03:04:05.678 +00:00');
CREATE TABLE totp_secrets (
        user_id CHAR(36) NOT NULL,
        secret TEXT NOT NULL,
        last_step INTEGER NOT NULL,
        wrong_codes INTEGER NOT NULL,
        warned_at DATETIME NULL,
        confirmed_at DATETIME NOT NULL,
        CONSTRAINT totp_secrets_pk PRIMARY KEY (user_id),
        CONSTRAINT totp_secrets_user_id_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
      );
INSERT INTO totp_secrets VALUES('01a20d5e-7a6c-7698-af15-051fd31e8e9d','sealed',1,2,'2026-01-02 03:04:05.678 +00:00','2026-01-02 03:04:05.678 +00:00');
CREATE TABLE totp_enrolments (
        session_id CHAR(36) NOT NULL,
        user_id CHAR(36) NOT NULL,
        secret TEXT NOT NULL,
        expires_at DATETIME NOT NULL,
        CONSTRAINT totp_enrolments_pk PRIMARY KEY (session_id),
        CONSTRAINT totp_enrolments_session_id_fk FOREIGN KEY (session_id) REFERENCES sessions (id) ON DELETE CASCADE,
        CONSTRAINT totp_enrolments_user_id_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
      );
INSERT INTO totp_enrolments VALUES('01a20d5e-7a7a-7581-b84c-19b1926a3bb9','01a20d5e-7a5c-7a44-8bdd-bbfbb1616246','sealed','2036-01-02 03:04:05.678 +00:00');
CREATE TABLE recovery_codes (
        code_hash BLOB NOT NULL,
        user_id CHAR(36) NOT NULL,
        used_at DATETIME NULL,
        CONSTRAINT recovery_codes_pk PRIMARY KEY (code_hash),
        CONSTRAINT recovery_codes_user_id_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
      );
INSERT INTO recovery_codes VALUES(X'0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e','01a20d5e-7a6c-7698-af15-051fd31e8e9d','2026-01-02 03:04:05.678 +00:00');
CREATE TABLE pending_sign_ins (
        token_hash BLOB NOT NULL,
        user_id CHAR(36) NOT NULL,
        auth_epoch INTEGER NOT NULL,
        remembered TINYINT(1) NOT NULL,
        amr VARCHAR(100) NOT NULL,
        attempts VARCHAR(320) NULL,
        expires_at DATETIME NOT NULL,
        CONSTRAINT pending_sign_ins_pk PRIMARY KEY (token_hash),
        CONSTRAINT pending_sign_ins_user_id_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
      );
INSERT INTO pending_sign_ins VALUES(X'0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f','01a20d5e-7a5c-7a44-8bdd-bbfbb1616246',0,1,'pwd','account:ada','2036-01-02 03:04:05.678 +00:00');
CREATE TABLE known_device_tokens (
  id CHAR(36) NOT NULL,
  device_id CHAR(36) NOT NULL,
  token_hash BLOB NOT NULL,
  expires_at DATETIME NULL,
  CONSTRAINT known_device_tokens_pk PRIMARY KEY (id),
  CONSTRAINT known_device_tokens_token_hash_unique UNIQUE (token_hash, device_id),
  CONSTRAINT known_device_tokens_device_id_fk FOREIGN KEY (device_id) REFERENCES known_devices (id) ON DELETE CASCADE
);
INSERT INTO known_device_tokens VALUES('01900000-0000-7000-8000-000000000020','01900000-0000-7000-8000-000000000001',X'1414141414141414141414141414141414141414141414141414141414141414',NULL);
CREATE TABLE imported_users (
  id CHAR(36) NOT NULL,
  source VARCHAR(64) COLLATE BINARY NOT NULL,
  ref_hash BLOB NOT NULL,
  ref TEXT NULL,
  is_number TINYINT(1) NULL,
  user_id CHAR(36) NULL,
  changed VARCHAR(255) NOT NULL DEFAULT '',
  stamps TEXT NULL,
  created_at DATETIME NOT NULL,
  CONSTRAINT imported_users_pk PRIMARY KEY (id),
  CONSTRAINT imported_users_ref_unique UNIQUE (ref_hash, source)
);
INSERT INTO imported_users VALUES('01a22426-eefc-7e4a-aa2b-23d051fa63e0','rows',X'904bc235280095db22039f16572849f1d70260fa27bbdce7c24324c868214c1c','7',1,'019b7ca9-8c88-738f-91fc-5850d9bf830d','','{"email":"zBTE6h662EcnmVO78XHiqw","emailVerified":"sCMbUm70j3HEw3_cxwvV5g"}','2026-11-28 21:54:21.052 +00:00');
CREATE TABLE import_keys (
  id CHAR(36) NOT NULL,
  sealed_key TEXT NOT NULL,
  CONSTRAINT import_keys_pk PRIMARY KEY (id)
);
INSERT INTO import_keys VALUES('00000000-0000-7000-8000-000000000000','v1.NhQJpW7y.sKfb_zZlAiwzfkHcybY1ahwzyWA-Sbhx8R6ldm4H9JJ2laYyiGq0VO4OTvdOVJAwPnuUQb58w4Zg_6GBBOpV36aXS5eOkLA7');
CREATE TABLE recent_browsers (
  id CHAR(36) NOT NULL,
  user_id CHAR(36) NULL,
  token_hash BLOB NOT NULL,
  made_there TINYINT(1) NOT NULL,
  expires_at DATETIME NOT NULL,
  CONSTRAINT recent_browsers_pk PRIMARY KEY (id),
  CONSTRAINT recent_browsers_user_id_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO recent_browsers VALUES('01900000-0000-7000-8000-000000000021','01a20d5e-7a5c-7a44-8bdd-bbfbb1616246',X'1515151515151515151515151515151515151515151515151515151515151515',1,'2036-01-02 03:04:05.678 +00:00');
CREATE TABLE unfinished_sign_ins (
  token_hash BLOB NOT NULL,
  user_id CHAR(36) NOT NULL,
  auth_epoch INTEGER NOT NULL,
  remembered TINYINT(1) NOT NULL,
  amr VARCHAR(100) NOT NULL,
  attempts VARCHAR(320) NULL,
  step VARCHAR(16) COLLATE BINARY NOT NULL,
  ip_address VARCHAR(45) NULL,
  user_agent VARCHAR(255) NULL,
  tries INTEGER NOT NULL DEFAULT 0,
  resends INTEGER NOT NULL DEFAULT 0,
  proves_email VARCHAR(254) COLLATE BINARY NULL,
  is_own TINYINT(1) NULL,
  expires_at DATETIME NOT NULL, salt BLOB NULL,
  CONSTRAINT unfinished_sign_ins_pk PRIMARY KEY (token_hash),
  CONSTRAINT unfinished_sign_ins_user_id_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO unfinished_sign_ins VALUES(X'1616161616161616161616161616161616161616161616161616161616161616','01a20d5e-7a5c-7a44-8bdd-bbfbb1616246',0,1,'pwd',NULL,'email_code',NULL,NULL,0,0,NULL,NULL,'2036-01-02 03:04:05.678 +00:00',X'1717171717171717171717171717171717171717171717171717171717171717');
CREATE TABLE emailed_sign_ins (
  token_hash BLOB NOT NULL,
  link_hash BLOB NOT NULL,
  salt BLOB NULL,
  email VARCHAR(254) COLLATE BINARY NOT NULL,
  remembered TINYINT(1) NOT NULL,
  asked_by CHAR(36) NULL,
  sent_at DATETIME NULL,
  auth_epoch INTEGER NULL,
  mails INTEGER NOT NULL,
  tries INTEGER NOT NULL,
  resends INTEGER NOT NULL,
  expires_at DATETIME NOT NULL,
  CONSTRAINT emailed_sign_ins_pk PRIMARY KEY (token_hash),
  CONSTRAINT emailed_sign_ins_link_hash_unique UNIQUE (link_hash)
);
INSERT INTO emailed_sign_ins VALUES(X'1919191919191919191919191919191919191919191919191919191919191919',X'1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a',X'1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b','ada@example.com',1,NULL,NULL,NULL,1,0,0,'2036-01-02 03:04:05.678 +00:00');
CREATE TABLE removed_passkeys (
  id CHAR(36) NOT NULL,
  credential_hash BLOB NOT NULL,
  user_id CHAR(36) NOT NULL,
  expires_at DATETIME NOT NULL,
  CONSTRAINT removed_passkeys_pk PRIMARY KEY (id),
  CONSTRAINT removed_passkeys_user_id_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);
INSERT INTO removed_passkeys VALUES('01900000-0000-7000-8000-000000000024',X'1818181818181818181818181818181818181818181818181818181818181818','01a20d5e-7a5c-7a44-8bdd-bbfbb1616246','2036-01-02 03:04:05.678 +00:00');
CREATE INDEX users_deleted_at ON users (deleted_at);
CREATE INDEX users_search ON users (id, email, username);
CREATE INDEX sessions_user_id ON sessions (user_id);
CREATE INDEX sessions_expires_at ON sessions (expires_at);
CREATE INDEX sessions_last_active_at ON sessions (last_active_at);
CREATE INDEX sessions_replaced_token_hash ON sessions (replaced_token_hash);
CREATE INDEX known_devices_user_id ON known_devices (user_id, last_used_at);
CREATE INDEX known_devices_undo_token_hash ON known_devices (undo_token_hash);
CREATE INDEX known_devices_unused ON known_devices (kept, last_used_at);
CREATE INDEX known_devices_forgotten ON known_devices (kept, forgotten_at);
CREATE INDEX account_changes_user_id ON account_changes (user_id, created_at);
CREATE INDEX account_changes_email ON account_changes (email);
CREATE INDEX account_changes_expires_at ON account_changes (expires_at);
CREATE INDEX one_time_tokens_user_id ON one_time_tokens (user_id);
CREATE INDEX one_time_tokens_expires_at ON one_time_tokens (expires_at);
CREATE INDEX carried_sessions_expires_at ON carried_sessions (expires_at);
CREATE INDEX outbox_due_at ON outbox (lane, due_at);
CREATE INDEX outbox_state ON outbox (state, id);
CREATE INDEX outbox_expires_at ON outbox (expires_at);
CREATE INDEX rate_limits_expires_at ON rate_limits (expires_at);
CREATE INDEX oauth_flows_expires_at ON oauth_flows (expires_at);
CREATE INDEX api_keys_user_id ON api_keys (user_id);
CREATE INDEX audit_events_user_id ON audit_events (user_id, id);
CREATE INDEX audit_events_kind ON audit_events (kind, id);
CREATE INDEX audit_events_created_at ON audit_events (created_at);
CREATE INDEX passkeys_user_id ON passkeys (user_id);
CREATE INDEX passkey_challenges_expires_at ON passkey_challenges (expires_at);
CREATE INDEX passkey_challenges_user_id ON passkey_challenges (user_id);
CREATE INDEX totp_enrolments_user_id ON totp_enrolments (user_id);
CREATE INDEX totp_enrolments_expires_at ON totp_enrolments (expires_at);
CREATE INDEX recovery_codes_user_id ON recovery_codes (user_id);
CREATE INDEX recovery_codes_used_at ON recovery_codes (used_at);
CREATE INDEX pending_sign_ins_user_id ON pending_sign_ins (user_id);
CREATE INDEX pending_sign_ins_expires_at ON pending_sign_ins (expires_at);
CREATE INDEX account_changes_ended ON account_changes (ended, expires_at);
CREATE INDEX known_device_tokens_device_id ON known_device_tokens (device_id);
CREATE INDEX known_device_tokens_expires_at ON known_device_tokens (expires_at);
CREATE INDEX imported_users_user_id ON imported_users (user_id);
CREATE INDEX imported_users_source ON imported_users (source, id);
CREATE INDEX carried_sessions_session_id ON carried_sessions (session_id);
CREATE INDEX recent_browsers_user_id ON recent_browsers (user_id);
CREATE INDEX recent_browsers_token_hash ON recent_browsers (token_hash);
CREATE INDEX recent_browsers_expires_at ON recent_browsers (expires_at);
CREATE INDEX unfinished_sign_ins_user_id ON unfinished_sign_ins (user_id);
CREATE INDEX unfinished_sign_ins_expires_at ON unfinished_sign_ins (expires_at);
CREATE INDEX emailed_sign_ins_expires_at ON emailed_sign_ins (expires_at);
CREATE INDEX emailed_sign_ins_email ON emailed_sign_ins (email);
CREATE INDEX removed_passkeys_credential_hash ON removed_passkeys (credential_hash);
CREATE INDEX removed_passkeys_user_id ON removed_passkeys (user_id);
CREATE INDEX removed_passkeys_expires_at ON removed_passkeys (expires_at);
