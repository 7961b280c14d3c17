/** How much mail somebody wants. `global` of one project or group stands for what he wants of all. */
export const notificationLevels = { disabled: 0, participating: 1, watch: 2, global: 3, mention: 4 } as const;

export type NotificationLevel = keyof typeof notificationLevels;
