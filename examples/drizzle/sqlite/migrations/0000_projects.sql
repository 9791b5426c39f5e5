CREATE TABLE `projects` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`owner_id` text NOT NULL,
	`title` text NOT NULL,
	FOREIGN KEY (`owner_id`) REFERENCES `auth_users`(`id`) ON UPDATE no action ON DELETE cascade
);
