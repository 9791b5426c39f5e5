CREATE TABLE latchkey_migrations (
  `name` varchar(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  PRIMARY KEY (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO latchkey_migrations VALUES ('0001-apiKeys');
INSERT INTO latchkey_migrations VALUES ('0001-auditLog');
INSERT INTO latchkey_migrations VALUES ('0001-core');
INSERT INTO latchkey_migrations VALUES ('0001-emailSignIn');
INSERT INTO latchkey_migrations VALUES ('0001-oauth');
INSERT INTO latchkey_migrations VALUES ('0001-passkeys');
INSERT INTO latchkey_migrations VALUES ('0001-suspension');
INSERT INTO latchkey_migrations VALUES ('0001-twoFactor');
INSERT INTO latchkey_migrations VALUES ('0002-core');
INSERT INTO latchkey_migrations VALUES ('0002-emailSignIn');
INSERT INTO latchkey_migrations VALUES ('0002-passkeys');
INSERT INTO latchkey_migrations VALUES ('0002-twoFactor');
INSERT INTO latchkey_migrations VALUES ('0003-core');
INSERT INTO latchkey_migrations VALUES ('0004-core');
INSERT INTO latchkey_migrations VALUES ('0005-core');
INSERT INTO latchkey_migrations VALUES ('0006-core');
INSERT INTO latchkey_migrations VALUES ('0007-core');
INSERT INTO latchkey_migrations VALUES ('0008-core');

CREATE TABLE users (
  `id` char(36) NOT NULL,
  email varchar(254) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin DEFAULT NULL,
  username varchar(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin DEFAULT NULL,
  email_verified_at datetime(3) DEFAULT NULL,
  password_hash varchar(1024) DEFAULT NULL,
  auth_epoch int(11) NOT NULL DEFAULT 0,
  created_at datetime(3) NOT NULL,
  updated_at datetime(3) NOT NULL,
  mailbox_proved_at datetime(3) DEFAULT NULL,
  deleted_at datetime(3) DEFAULT NULL,
  suspended_at datetime(3) DEFAULT NULL,
  suspended_until datetime(3) DEFAULT NULL,
  suspension_reason varchar(255) DEFAULT NULL,
  second_factor_at datetime(3) DEFAULT NULL,
  plan varchar(255) DEFAULT 'free',
  `level` int(11) DEFAULT -3,
  ratio double DEFAULT 0.5,
  newsletter tinyint(1) DEFAULT 0,
  since datetime(3) DEFAULT '0999-12-31 23:59:59.123',
  settings text DEFAULT NULL,
  bio text DEFAULT NULL,
  nickname varchar(40) DEFAULT NULL,
  email_proof varchar(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin DEFAULT NULL,
  imported_at datetime(3) DEFAULT NULL,
  first_used_at datetime(3) DEFAULT NULL,
  sessions_ended_at datetime(3) DEFAULT NULL,
  username_display varchar(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin DEFAULT NULL,
  new_password_required_at datetime(3) DEFAULT NULL,
  passkey_factor tinyint(1) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY users_email_unique (email),
  UNIQUE KEY users_username_unique (username),
  KEY users_deleted_at (deleted_at),
  KEY users_search (`id`,email,username)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO users VALUES ('019b7ca9-8c88-738f-91fc-5850d9bf830d','grace@example.com',NULL,'2026-11-28 21:54:26.192',NULL,0,'2026-01-02 03:04:05.000','2026-11-28 21:54:26.192','2026-11-28 21:54:26.192',NULL,NULL,NULL,NULL,NULL,'free',-3,0.5,0,'0999-12-31 23:59:59.123',NULL,NULL,NULL,'mailbox','2026-11-28 21:54:26.179',NULL,NULL,NULL,NULL,NULL);
INSERT INTO users VALUES ('01a20d5e-c1a3-72b2-b41b-7bca4a90daef','ada@example.com','ada','2026-11-24 11:44:03.491','$bcrypt-hmac-sha384$2b$04$H3Z4fOEH48C3AlUty86zcuogbmQthZHgCXXoe7lw/KjlLdJjOMmPa',0,'2026-11-24 11:44:03.491','2026-11-24 11:44:03.491','2026-11-24 11:44:03.491',NULL,NULL,NULL,NULL,NULL,'free',-3,0.5,0,'0999-12-31 23:59:59.123',NULL,'long','é ü €',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO users VALUES ('01a20d5e-c1d0-70cc-b7aa-5be3ab5f4983','bob@example.com',NULL,NULL,'$bcrypt-hmac-sha384$2b$04$7xK6jDBe3EFGBkameuuKY.jKLzTp34x03CQJhaPl2wPKjPEd.KfaC',1,'2026-11-24 11:44:03.536','2026-11-24 11:44:03.536',NULL,NULL,'2026-11-24 11:44:03.546',NULL,'spam',NULL,'free',-3,0.5,0,'0999-12-31 23:59:59.123',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);

CREATE TABLE sessions (
  `id` char(36) NOT NULL,
  user_id char(36) NOT NULL,
  token_hash binary(32) NOT NULL,
  auth_epoch int(11) NOT NULL,
  remembered tinyint(1) NOT NULL,
  created_at datetime(3) NOT NULL,
  authenticated_at datetime(3) NOT NULL,
  last_active_at datetime(3) NOT NULL,
  expires_at datetime(3) NOT NULL,
  ip_address varchar(45) DEFAULT NULL,
  user_agent varchar(255) DEFAULT NULL,
  replaced_token_hash binary(32) DEFAULT NULL,
  token_issued_at datetime(3) DEFAULT NULL,
  aal int(11) NOT NULL DEFAULT 1,
  amr varchar(100) NOT NULL DEFAULT '',
  PRIMARY KEY (`id`),
  UNIQUE KEY sessions_token_hash_unique (token_hash),
  KEY sessions_user_id (user_id),
  KEY sessions_expires_at (expires_at),
  KEY sessions_last_active_at (last_active_at),
  KEY sessions_replaced_token_hash (replaced_token_hash),
  CONSTRAINT sessions_user_id_fk FOREIGN KEY (user_id) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO sessions VALUES ('01a20d5e-c217-7254-8d51-6a80f4d4909e','01a20d5e-c1a3-72b2-b41b-7bca4a90daef',0xC6471F370D46C537AFC2025EBA93807C06FF19770136432A368D2C4C20591B66,0,0,'2026-11-24 11:44:03.607','2026-11-24 11:44:03.607','2026-11-24 11:44:03.607','2026-11-25 11:44:03.607',NULL,NULL,NULL,'2026-11-24 11:44:03.607',1,'pwd');

CREATE TABLE known_devices (
  `id` char(36) NOT NULL,
  user_id char(36) NOT NULL,
  token_hash binary(32) NOT NULL,
  created_at datetime(3) NOT NULL,
  last_used_at datetime(3) NOT NULL,
  forgotten_at datetime(3) DEFAULT NULL,
  undo_token_hash binary(32) DEFAULT NULL,
  kept tinyint(1) DEFAULT NULL,
  token_until datetime(3) DEFAULT NULL,
  `name` varchar(64) DEFAULT NULL,
  dropped tinyint(1) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY known_devices_token_hash_unique (token_hash,user_id),
  KEY known_devices_user_id (user_id,last_used_at),
  KEY known_devices_undo_token_hash (undo_token_hash),
  KEY known_devices_unused (kept,last_used_at),
  KEY known_devices_forgotten (kept,forgotten_at),
  CONSTRAINT known_devices_user_id_fk FOREIGN KEY (user_id) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO known_devices VALUES ('01900000-0000-7000-8000-000000000001','01a20d5e-c1a3-72b2-b41b-7bca4a90daef',0x0101010101010101010101010101010101010101010101010101010101010101,'2026-01-02 03:04:05.000','2026-01-02 03:04:05.000','2026-01-02 03:04:05.000',0x0202020202020202020202020202020202020202020202020202020202020202,1,NULL,NULL,1);

CREATE TABLE account_changes (
  `id` char(36) NOT NULL,
  user_id char(36) NOT NULL,
  kind varchar(32) NOT NULL,
  token_hash binary(32) DEFAULT NULL,
  email varchar(254) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin DEFAULT NULL,
  state mediumtext DEFAULT NULL,
  created_at datetime(3) NOT NULL,
  expires_at datetime(3) NOT NULL,
  ended tinyint(1) DEFAULT NULL,
  device varchar(64) DEFAULT NULL,
  ip_address varchar(45) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY account_changes_token_hash_unique (token_hash),
  KEY account_changes_user_id (user_id,created_at),
  KEY account_changes_email (email),
  KEY account_changes_expires_at (expires_at),
  KEY account_changes_ended (ended,expires_at),
  CONSTRAINT account_changes_user_id_fk FOREIGN KEY (user_id) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO account_changes VALUES ('01900000-0000-7000-8000-000000000002','01a20d5e-c1a3-72b2-b41b-7bca4a90daef','password-changed',0x0303030303030303030303030303030303030303030303030303030303030303,'was@example.com','sealed','2026-01-02 03:04:05.000','2036-01-02 03:04:05.000',NULL,NULL,NULL);

CREATE TABLE accounts (
  `id` char(36) NOT NULL,
  user_id char(36) NOT NULL,
  provider varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  `issuer` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  `subject` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  scopes text NOT NULL,
  token_type varchar(64) DEFAULT NULL,
  access_token text DEFAULT NULL,
  refresh_token text DEFAULT NULL,
  id_token text DEFAULT NULL,
  access_token_expires_at datetime(3) DEFAULT NULL,
  relink_required tinyint(1) NOT NULL,
  refresh_lease char(36) DEFAULT NULL,
  refresh_lease_until datetime(3) DEFAULT NULL,
  refreshed_at datetime(3) NOT NULL,
  created_at datetime(3) NOT NULL,
  updated_at datetime(3) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY accounts_issuer_subject_unique (`issuer`,`subject`),
  UNIQUE KEY accounts_user_id_provider_unique (user_id,provider),
  CONSTRAINT accounts_user_id_fk FOREIGN KEY (user_id) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO accounts VALUES ('01900000-0000-7000-8000-000000000004','01a20d5e-c1a3-72b2-b41b-7bca4a90daef','fixed','https://fixed.example','Ada ','openid email','bearer','sealed','sealed','sealed','2026-01-02 03:04:05.000',0,'01900000-0000-7000-8000-000000000009','2026-01-02 03:04:05.000','2026-01-02 03:04:05.000','2026-01-02 03:04:05.000','2026-01-02 03:04:05.000');

CREATE TABLE api_keys (
  `id` char(36) NOT NULL,
  user_id char(36) NOT NULL,
  `name` varchar(100) NOT NULL,
  `start` varchar(16) NOT NULL,
  key_hash binary(32) NOT NULL,
  scopes text NOT NULL,
  created_at datetime(3) NOT NULL,
  expires_at datetime(3) DEFAULT NULL,
  last_used_at datetime(3) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY api_keys_key_hash_unique (key_hash),
  KEY api_keys_user_id (user_id),
  CONSTRAINT api_keys_user_id_fk FOREIGN KEY (user_id) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO api_keys VALUES ('01a20d5e-c24d-744d-80ba-258d620a81ca','01a20d5e-c1a3-72b2-b41b-7bca4a90daef','program','lkk_Q7gDTwU_',0x08CEF6EBF745C569FD25C883482CAE9E7058B7B2EC850FE32CB8C0D064D880A2,'read','2026-11-24 11:44:03.661',NULL,NULL);

CREATE TABLE audit_events (
  `id` char(36) NOT NULL,
  kind varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  user_id char(36) DEFAULT NULL,
  ip_address varchar(45) DEFAULT NULL,
  user_agent varchar(255) DEFAULT NULL,
  details text NOT NULL,
  created_at datetime(3) NOT NULL,
  PRIMARY KEY (`id`),
  KEY audit_events_user_id (user_id,`id`),
  KEY audit_events_kind (kind,`id`),
  KEY audit_events_created_at (created_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO audit_events VALUES ('01900000-0000-7000-8000-000000000005','sign_in.succeeded','01a20d5e-c1a3-72b2-b41b-7bca4a90daef','192.0.2.1','spec','{\"a\":1}','2026-01-02 03:04:05.000');
INSERT INTO audit_events VALUES ('01a22427-02f4-734b-a771-d13660a66f0d','sign_in.failed','01a20d5e-c1a3-72b2-b41b-7bca4a90daef',NULL,NULL,'{}','2026-11-28 21:54:26.164');

CREATE TABLE carried_sessions (
  old_hash binary(32) NOT NULL,
  token_hash binary(32) DEFAULT NULL,
  sealed_token text DEFAULT NULL,
  used_at datetime(3) DEFAULT NULL,
  created_at datetime(3) NOT NULL,
  expires_at datetime(3) NOT NULL,
  session_id char(36) DEFAULT NULL,
  auth_epoch int(11) DEFAULT NULL,
  sealed_id text DEFAULT NULL,
  PRIMARY KEY (old_hash),
  KEY carried_sessions_expires_at (expires_at),
  KEY carried_sessions_session_id (session_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO carried_sessions VALUES (0x0606060606060606060606060606060606060606060606060606060606060606,0x0707070707070707070707070707070707070707070707070707070707070707,'sealed','2026-01-02 03:04:05.000','2026-01-02 03:04:05.000','2036-01-02 03:04:05.000',NULL,NULL,NULL);

CREATE TABLE emailed_sign_ins (
  token_hash binary(32) NOT NULL,
  link_hash binary(32) NOT NULL,
  salt binary(32) DEFAULT NULL,
  email varchar(254) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  remembered tinyint(1) NOT NULL,
  asked_by char(36) DEFAULT NULL,
  sent_at datetime(3) DEFAULT NULL,
  auth_epoch int(11) DEFAULT NULL,
  mails int(11) NOT NULL,
  tries int(11) NOT NULL,
  resends int(11) NOT NULL,
  expires_at datetime(3) NOT NULL,
  PRIMARY KEY (token_hash),
  UNIQUE KEY emailed_sign_ins_link_hash_unique (link_hash),
  KEY emailed_sign_ins_expires_at (expires_at),
  KEY emailed_sign_ins_email (email)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO emailed_sign_ins VALUES (0x1919191919191919191919191919191919191919191919191919191919191919,0x1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A,0x1B1B1B1B1B1B1B1B1B1B1B1B1B1B1B1B1B1B1B1B1B1B1B1B1B1B1B1B1B1B1B1B,'ada@example.com',1,NULL,NULL,NULL,1,0,0,'2036-01-02 03:04:05.000');

CREATE TABLE import_keys (
  `id` char(36) NOT NULL,
  sealed_key text NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO import_keys VALUES ('00000000-0000-7000-8000-000000000000','v1.NhQJpW7y.h0i2UPSU_N8VnPP0iw8XZCE5Q-ugA8dfRGXjTgbQVksr89V8dcnfhc8u4oq5YRzCUvUBb0cBVGADHaE07uCn1LlOAkEmwXkJ');

CREATE TABLE imported_users (
  `id` char(36) NOT NULL,
  `source` varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  ref_hash binary(32) NOT NULL,
  ref text DEFAULT NULL,
  is_number tinyint(1) DEFAULT NULL,
  user_id char(36) DEFAULT NULL,
  `changed` varchar(255) NOT NULL DEFAULT '',
  stamps text DEFAULT NULL,
  created_at datetime(3) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY imported_users_ref_unique (ref_hash,`source`),
  KEY imported_users_user_id (user_id),
  KEY imported_users_source (`source`,`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO imported_users VALUES ('01a22427-0313-7aee-831b-645d66aab382','rows',0x631F599535C57A322E2BCCFD583E285DBDA27E8B692AF6828A0D15BD92E39E5F,'7',1,'019b7ca9-8c88-738f-91fc-5850d9bf830d','','{\"email\":\"99ovqUr5sNUMBdFtW0qOKQ\",\"emailVerified\":\"-gDmLtCBVKsy_gjI4i0nzQ\"}','2026-11-28 21:54:26.195');

CREATE TABLE known_device_tokens (
  `id` char(36) NOT NULL,
  device_id char(36) NOT NULL,
  token_hash binary(32) NOT NULL,
  expires_at datetime(3) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY known_device_tokens_token_hash_unique (token_hash,device_id),
  KEY known_device_tokens_device_id (device_id),
  KEY known_device_tokens_expires_at (expires_at),
  CONSTRAINT known_device_tokens_device_id_fk FOREIGN KEY (device_id) REFERENCES known_devices (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO known_device_tokens VALUES ('01900000-0000-7000-8000-000000000020','01900000-0000-7000-8000-000000000001',0x1414141414141414141414141414141414141414141414141414141414141414,NULL);

CREATE TABLE oauth_flows (
  state_hash binary(32) NOT NULL,
  browser_hash binary(32) NOT NULL,
  provider varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  session_id char(36) DEFAULT NULL,
  callback_url varchar(2048) NOT NULL,
  redirect_uri varchar(2048) NOT NULL,
  sealed text NOT NULL,
  expires_at datetime(3) NOT NULL,
  PRIMARY KEY (state_hash),
  KEY oauth_flows_expires_at (expires_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO oauth_flows VALUES (0x0909090909090909090909090909090909090909090909090909090909090909,0x0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A,'fixed','01a20d5e-c217-7254-8d51-6a80f4d4909e','/','http://app.example.com/cb','sealed','2036-01-02 03:04:05.000');

CREATE TABLE one_time_tokens (
  token_hash binary(32) NOT NULL,
  user_id char(36) DEFAULT NULL,
  purpose varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  email varchar(254) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  expires_at datetime(3) NOT NULL,
  auth_epoch int(11) DEFAULT NULL,
  PRIMARY KEY (token_hash),
  KEY one_time_tokens_user_id (user_id),
  KEY one_time_tokens_expires_at (expires_at),
  CONSTRAINT one_time_tokens_user_id_fk FOREIGN KEY (user_id) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO one_time_tokens VALUES (0x0404040404040404040404040404040404040404040404040404040404040404,'01a20d5e-c1a3-72b2-b41b-7bca4a90daef','reset-password','ada@example.com','2036-01-02 03:04:05.000',0);
INSERT INTO one_time_tokens VALUES (0x0505050505050505050505050505050505050505050505050505050505050505,NULL,'reset-password','nobody@example.com','2036-01-02 03:04:05.000',NULL);

CREATE TABLE outbox (
  `id` char(36) NOT NULL,
  lane varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  kind varchar(64) NOT NULL,
  state varchar(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  content mediumtext DEFAULT NULL,
  attempts int(11) NOT NULL,
  last_error varchar(255) DEFAULT NULL,
  created_at datetime(3) NOT NULL,
  due_at datetime(3) DEFAULT NULL,
  give_up_at datetime(3) NOT NULL,
  finished_at datetime(3) DEFAULT NULL,
  expires_at datetime(3) NOT NULL,
  PRIMARY KEY (`id`),
  KEY outbox_due_at (lane,due_at),
  KEY outbox_state (state,`id`),
  KEY outbox_expires_at (expires_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO outbox VALUES ('01900000-0000-7000-8000-000000000003','mail','new-device','sent',NULL,1,'late','2026-01-02 03:04:05.000',NULL,'2026-01-02 03:04:05.000','2026-01-02 03:04:05.000','2036-01-02 03:04:05.000');

CREATE TABLE passkey_challenges (
  challenge_hash binary(32) NOT NULL,
  purpose varchar(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  binding_hash binary(32) NOT NULL,
  user_id char(36) DEFAULT NULL,
  user_handle varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin DEFAULT NULL,
  expires_at datetime(3) NOT NULL,
  PRIMARY KEY (challenge_hash),
  KEY passkey_challenges_expires_at (expires_at),
  KEY passkey_challenges_user_id (user_id),
  CONSTRAINT passkey_challenges_user_id_fk FOREIGN KEY (user_id) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO passkey_challenges VALUES (0x0C0C0C0C0C0C0C0C0C0C0C0C0C0C0C0C0C0C0C0C0C0C0C0C0C0C0C0C0C0C0C0C,'add',0x0D0D0D0D0D0D0D0D0D0D0D0D0D0D0D0D0D0D0D0D0D0D0D0D0D0D0D0D0D0D0D0D,'01a20d5e-c1a3-72b2-b41b-7bca4a90daef','AAEC','2036-01-02 03:04:05.000');

CREATE TABLE passkeys (
  `id` char(36) NOT NULL,
  user_id char(36) NOT NULL,
  `name` varchar(100) NOT NULL,
  created_at datetime(3) NOT NULL,
  last_used_at datetime(3) DEFAULT NULL,
  device_type varchar(16) NOT NULL,
  backed_up tinyint(1) NOT NULL,
  transports text NOT NULL,
  credential_id text NOT NULL,
  credential_hash binary(32) NOT NULL,
  public_key text NOT NULL,
  user_handle varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  counter bigint(20) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY passkeys_credential_hash_unique (credential_hash),
  KEY passkeys_user_id (user_id),
  CONSTRAINT passkeys_user_id_fk FOREIGN KEY (user_id) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO passkeys VALUES ('01900000-0000-7000-8000-000000000006','01a20d5e-c1a3-72b2-b41b-7bca4a90daef','phone','2026-01-02 03:04:05.000','2026-01-02 03:04:05.000','multiDevice',1,'internal usb','AAEC',0x0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B,'AAEC','AAEC',4294967295);

CREATE TABLE pending_sign_ins (
  token_hash binary(32) NOT NULL,
  user_id char(36) NOT NULL,
  auth_epoch int(11) NOT NULL,
  remembered tinyint(1) NOT NULL,
  amr varchar(100) NOT NULL,
  attempts varchar(320) DEFAULT NULL,
  expires_at datetime(3) NOT NULL,
  PRIMARY KEY (token_hash),
  KEY pending_sign_ins_user_id (user_id),
  KEY pending_sign_ins_expires_at (expires_at),
  CONSTRAINT pending_sign_ins_user_id_fk FOREIGN KEY (user_id) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO pending_sign_ins VALUES (0x0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F,'01a20d5e-c1a3-72b2-b41b-7bca4a90daef',0,1,'pwd','account:ada','2036-01-02 03:04:05.000');

CREATE TABLE rate_limits (
  key_hash binary(32) NOT NULL,
  hits int(11) NOT NULL,
  blocked_until datetime(3) DEFAULT NULL,
  expires_at datetime(3) NOT NULL,
  reported tinyint(1) DEFAULT NULL,
  PRIMARY KEY (key_hash),
  KEY rate_limits_expires_at (expires_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO rate_limits VALUES (0x0808080808080808080808080808080808080808080808080808080808080808,3,'2026-01-02 03:04:05.000','2036-01-02 03:04:05.000',1);

CREATE TABLE recent_browsers (
  `id` char(36) NOT NULL,
  user_id char(36) DEFAULT NULL,
  token_hash binary(32) NOT NULL,
  made_there tinyint(1) NOT NULL,
  expires_at datetime(3) NOT NULL,
  PRIMARY KEY (`id`),
  KEY recent_browsers_user_id (user_id),
  KEY recent_browsers_token_hash (token_hash),
  KEY recent_browsers_expires_at (expires_at),
  CONSTRAINT recent_browsers_user_id_fk FOREIGN KEY (user_id) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO recent_browsers VALUES ('01900000-0000-7000-8000-000000000021','01a20d5e-c1a3-72b2-b41b-7bca4a90daef',0x1515151515151515151515151515151515151515151515151515151515151515,1,'2036-01-02 03:04:05.000');

CREATE TABLE recovery_codes (
  code_hash binary(32) NOT NULL,
  user_id char(36) NOT NULL,
  used_at datetime(3) DEFAULT NULL,
  PRIMARY KEY (code_hash),
  KEY recovery_codes_user_id (user_id),
  KEY recovery_codes_used_at (used_at),
  CONSTRAINT recovery_codes_user_id_fk FOREIGN KEY (user_id) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO recovery_codes VALUES (0x0E0E0E0E0E0E0E0E0E0E0E0E0E0E0E0E0E0E0E0E0E0E0E0E0E0E0E0E0E0E0E0E,'01a20d5e-c1d0-70cc-b7aa-5be3ab5f4983','2026-01-02 03:04:05.000');

CREATE TABLE removed_passkeys (
  `id` char(36) NOT NULL,
  credential_hash binary(32) NOT NULL,
  user_id char(36) NOT NULL,
  expires_at datetime(3) NOT NULL,
  PRIMARY KEY (`id`),
  KEY removed_passkeys_credential_hash (credential_hash),
  KEY removed_passkeys_user_id (user_id),
  KEY removed_passkeys_expires_at (expires_at),
  CONSTRAINT removed_passkeys_user_id_fk FOREIGN KEY (user_id) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO removed_passkeys VALUES ('01900000-0000-7000-8000-000000000024',0x1818181818181818181818181818181818181818181818181818181818181818,'01a20d5e-c1a3-72b2-b41b-7bca4a90daef','2036-01-02 03:04:05.000');

CREATE TABLE totp_enrolments (
  session_id char(36) NOT NULL,
  user_id char(36) NOT NULL,
  secret text NOT NULL,
  expires_at datetime(3) NOT NULL,
  PRIMARY KEY (session_id),
  KEY totp_enrolments_user_id (user_id),
  KEY totp_enrolments_expires_at (expires_at),
  CONSTRAINT totp_enrolments_session_id_fk FOREIGN KEY (session_id) REFERENCES `sessions` (`id`) ON DELETE CASCADE,
  CONSTRAINT totp_enrolments_user_id_fk FOREIGN KEY (user_id) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO totp_enrolments VALUES ('01a20d5e-c217-7254-8d51-6a80f4d4909e','01a20d5e-c1a3-72b2-b41b-7bca4a90daef','sealed','2036-01-02 03:04:05.000');

CREATE TABLE totp_secrets (
  user_id char(36) NOT NULL,
  secret text NOT NULL,
  last_step int(11) NOT NULL,
  wrong_codes int(11) NOT NULL,
  warned_at datetime(3) DEFAULT NULL,
  confirmed_at datetime(3) NOT NULL,
  PRIMARY KEY (user_id),
  CONSTRAINT totp_secrets_user_id_fk FOREIGN KEY (user_id) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO totp_secrets VALUES ('01a20d5e-c1d0-70cc-b7aa-5be3ab5f4983','sealed',1,2,'2026-01-02 03:04:05.000','2026-01-02 03:04:05.000');

CREATE TABLE unfinished_sign_ins (
  token_hash binary(32) NOT NULL,
  user_id char(36) NOT NULL,
  auth_epoch int(11) NOT NULL,
  remembered tinyint(1) NOT NULL,
  amr varchar(100) NOT NULL,
  attempts varchar(320) DEFAULT NULL,
  step varchar(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  ip_address varchar(45) DEFAULT NULL,
  user_agent varchar(255) DEFAULT NULL,
  tries int(11) NOT NULL DEFAULT 0,
  resends int(11) NOT NULL DEFAULT 0,
  proves_email varchar(254) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin DEFAULT NULL,
  is_own tinyint(1) DEFAULT NULL,
  expires_at datetime(3) NOT NULL,
  salt binary(32) DEFAULT NULL,
  PRIMARY KEY (token_hash),
  KEY unfinished_sign_ins_user_id (user_id),
  KEY unfinished_sign_ins_expires_at (expires_at),
  CONSTRAINT unfinished_sign_ins_user_id_fk FOREIGN KEY (user_id) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO unfinished_sign_ins VALUES (0x1616161616161616161616161616161616161616161616161616161616161616,'01a20d5e-c1a3-72b2-b41b-7bca4a90daef',0,1,'pwd',NULL,'email_code',NULL,NULL,0,0,NULL,NULL,'2036-01-02 03:04:05.000',0x1717171717171717171717171717171717171717171717171717171717171717);
