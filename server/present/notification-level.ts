import { z } from 'zod';
import { type NotificationLevel, notificationLevels } from '../../shared/notification-level.ts';

const Level = z.enum(['disabled', 'participating', 'watch', 'global', 'mention']);

/** Of one project or group. */
export const NotificationLevelJson = z.strictObject({ level: Level });

/** Of oneself, wherever nothing else is set. */
export const NotificationSettingsJson = z.strictObject({ level: Level, notification_email: z.string() });

export function presentLevel(level: number): NotificationLevel {
  return Level.options.find((name) => notificationLevels[name] === level) ?? 'global';
}
