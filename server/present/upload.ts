import { z } from 'zod';

export const UploadJson = z.strictObject({
  alt: z.string(),
  /** From the project's own address on. */
  url: z.string(),
  is_image: z.boolean(),
  markdown: z.string(),
});

/** Pictures that a browser shows without running anything in them, by the end of the file's name. */
const imageTypes: Record<string, string> = {
  bmp: 'image/bmp',
  gif: 'image/gif',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  png: 'image/png',
  tiff: 'image/tiff',
  webp: 'image/webp',
};

/** Media type of a picture, or null for every other file. */
export function imageType(filename: string): string | null {
  const end = /\.([a-z]+)$/i.exec(filename)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(imageTypes, end) ? (imageTypes[end] ?? null) : null;
}

export function presentUpload(stored: { secret: string; filename: string }): z.infer<typeof UploadJson> {
  const isImage = imageType(stored.filename) !== null;
  const alt = isImage ? stored.filename.replace(/\.[^.]*$/, '') : stored.filename;
  const url = `/uploads/${stored.secret}/${stored.filename}`;
  return { alt, url, is_image: isImage, markdown: `${isImage ? '!' : ''}[${alt}](${url})` };
}
