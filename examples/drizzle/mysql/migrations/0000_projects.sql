CREATE TABLE `projects` (
	`id` int AUTO_INCREMENT NOT NULL,
	`owner_id` char(36) character set utf8mb4 collate utf8mb4_bin NOT NULL,
	`title` varchar(80) NOT NULL,
	CONSTRAINT `projects_id` PRIMARY KEY(`id`)
);
--> statement-breakpoint
ALTER TABLE `projects` ADD CONSTRAINT `projects_owner_id_auth_users_id_fk` FOREIGN KEY (`owner_id`) REFERENCES `auth_users`(`id`) ON DELETE cascade ON UPDATE no action;