import { z } from 'zod';
import { notFound } from '../errors.ts';
import { anyone } from '../http/access.ts';
import { PageAnswer } from '../http/answers.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { optional, pathText, text } from '../http/params.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import { fillLicense, licenses } from './license-texts.ts';

const LicenseJson = z.strictObject({
  key: z.string(),
  name: z.string(),
  nickname: z.string().nullable(),
  featured: z.boolean(),
  html_url: z.string(),
  source_url: z.string(),
  description: z.string(),
  conditions: z.array(z.string()),
  permissions: z.array(z.string()),
  limitations: z.array(z.string()),
  content: z.string(),
});

const list = endpoint({
  method: 'GET',
  path: '/licenses',
  summary: 'Templates of licenses, with their placeholders',
  access: anyone(),
  params: { popular: optional(text({ max: 255 })) },
  returns: LicenseJson,
  list: true,
  async run({ params, page }) {
    const found = params.popular === undefined ? licenses : licenses.filter(({ featured }) => featured);
    const from = (page.page - 1) * page.perPage;
    return new PageAnswer(found.slice(from, from + page.perPage), found.length);
  },
});

const get = endpoint({
  method: 'GET',
  path: '/licenses/:key',
  summary: 'One license with year, project and holder filled in',
  access: anyone(),
  params: {
    key: pathText(),
    project: optional(text({ max: 255 })),
    fullname: optional(text({ max: 255 })),
  },
  returns: LicenseJson,
  async run({ viewer, params, work }) {
    const license = licenses.find(({ key }) => key === params.key.toLowerCase());
    if (!license) throw notFound('License');
    const content = fillLicense(license.content, {
      year: await currentYear(work),
      project: params.project,
      fullname: params.fullname ?? viewer?.name,
    });
    return { ...license, content };
  },
});

export const endpoints: Endpoint[] = [list, get];

async function currentYear(work: Work): Promise<number> {
  const row = await sqlOne<{ year: number }>(work.em, 'select extract(year from now())::int as year');
  return row?.year ?? 0;
}
