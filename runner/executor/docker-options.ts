import { z } from 'zod';

const units: Record<string, number> = { '': 1, b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** Bytes of a size such as `512m`, `1.5g` or `1073741824`; null when it cannot be read. */
export function parseByteSize(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)\s*([bkmgt]?)(?:i?b)?$/i.exec(text.trim());
  const unit = units[(match?.[2] ?? '').toLowerCase()];
  return match && unit !== undefined ? Math.round(Number(match[1]) * unit) : null;
}

/** Size in bytes, written as a number or with a unit; comes out as a number. */
export const ByteSize = z.union([z.number(), z.string()]).transform((value, context) => {
  const bytes = typeof value === 'number' ? value : parseByteSize(value);
  if (bytes === null || !Number.isSafeInteger(bytes) || bytes < 0) {
    context.addIssue({ code: 'custom', message: `not a size: ${value} (write for example 512m or 2g)` });
    return z.NEVER;
  }
  return bytes;
});

export const pullPolicies = ['always', 'if-not-present', 'never'] as const;

/** The `docker` part of one registration in the runner's config file. */
export const DockerOptions = z.strictObject({
  /** Socket path, `unix:///path` or `tcp://host:port`. */
  host: z.string().min(1).default('/var/run/docker.sock'),
  /** For jobs that name no image; always allowed, whatever `allowed_images` says. */
  image: z.string().min(1).default('alpine:latest'),
  pull_policy: z.enum(pullPolicies).default('always'),
  /** Limit of each container, in bytes after parsing. */
  memory: ByteSize.optional(),
  /** Limit of each container, in processors; may be a fraction. */
  cpus: z.number().positive().optional(),
  pids_limit: z.number().int().positive().optional(),
  privileged: z.boolean().default(false),
  /** When set, no network is made for the build and its containers join this one. */
  network_mode: z.string().min(1).optional(),
  /** `/path` (persistent, per project and slot) or `/host:/path[:ro]`. */
  volumes: z.array(z.string().startsWith('/')).default([]),
  /** Globs of images that jobs may ask for; absent means any. */
  allowed_images: z.array(z.string()).optional(),
  allowed_services: z.array(z.string()).optional(),
  /** Services started for every build, before those of the job. */
  services: z.array(z.string()).default([]),
  /** Seconds; 0 or less switches the waiting off. */
  wait_for_services_timeout: z.number().int().default(30),
  shm_size: ByteSize.optional(),
  dns: z.array(z.string()).default([]),
  /** `name:address` lines for /etc/hosts. */
  extra_hosts: z.array(z.string()).default([]),
  cap_add: z.array(z.string()).default([]),
  cap_drop: z.array(z.string()).default([]),
  /** User of the build container, in place of the one the image names. */
  user: z.string().min(1).optional(),
});
export type DockerOptions = z.infer<typeof DockerOptions>;
