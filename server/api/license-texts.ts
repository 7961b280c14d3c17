import official from '@rexxars/choosealicense-list/licenses.json' with { type: 'json' };

export interface License {
  key: string;
  name: string;
  nickname: string | null;
  featured: boolean;
  html_url: string;
  source_url: string;
  description: string;
  conditions: string[];
  permissions: string[];
  limitations: string[];
  /** With placeholders for year, holder and project. */
  content: string;
}

interface LicenseFacts {
  /** Name in the list of official texts. */
  text: keyof typeof official;
  nickname?: string;
  featured?: boolean;
  source: string;
  description: string;
  conditions: string[];
  withoutPatents?: boolean;
  limitations?: string[];
}

const permissions = ['commercial-use', 'modifications', 'distribution', 'patent-use', 'private-use'];
const copyright = 'include-copyright';
const changes = 'document-changes';
const source = 'disclose-source';
const same = 'same-license';

/** In the order of their keys. */
const facts: Record<string, LicenseFacts> = {
  'agpl-3.0': {
    text: 'AGPL-3.0',
    nickname: 'GNU AGPLv3',
    source: 'https://www.gnu.org/licenses/agpl-3.0.txt',
    description: 'As the GNU GPL, and whoever offers the program over a network must offer its source too.',
    conditions: [copyright, changes, source, 'network-use-disclose', same],
  },
  'apache-2.0': {
    text: 'Apache-2.0',
    featured: true,
    source: 'https://www.apache.org/licenses/LICENSE-2.0.txt',
    description: 'Allows nearly everything, says what was changed, and grants patents of the contributors.',
    conditions: [copyright, changes],
    limitations: ['trademark-use', 'no-liability'],
  },
  'artistic-2.0': {
    text: 'Artistic-2.0',
    source: 'https://www.perlfoundation.org/artistic-license-20.html',
    description: 'Comes from Perl; changed versions must not stand in the way of the original one.',
    conditions: [copyright, changes],
    limitations: ['no-liability', 'trademark-use'],
  },
  'bsd-2-clause': {
    text: 'BSD-2-Clause',
    nickname: 'BSD 2-Clause',
    source: 'https://opensource.org/licenses/BSD-2-Clause',
    description: 'Two short conditions: keep the notice in the source, and show it with the binaries.',
    conditions: [copyright],
    withoutPatents: true,
  },
  'bsd-3-clause': {
    text: 'BSD-3-Clause',
    nickname: 'BSD 3-Clause',
    source: 'https://opensource.org/licenses/BSD-3-Clause',
    description:
      'As the two clauses, and the names of the authors must not advertise what others make of it.',
    conditions: [copyright],
    withoutPatents: true,
  },
  'cc0-1.0': {
    text: 'CC0-1.0',
    nickname: 'CC0 1.0 Universal',
    source: 'https://creativecommons.org/publicdomain/zero/1.0/legalcode.txt',
    description: 'Gives up all rights that the law lets one give up: the work is as good as nobody’s.',
    conditions: [],
    withoutPatents: true,
    limitations: ['no-liability', 'trademark-use', 'patent-use'],
  },
  'epl-1.0': {
    text: 'EPL-1.0',
    source: 'https://www.eclipse.org/org/documents/epl-v10.html',
    description: 'Changes stay open under the same terms; what is only combined with it may have others.',
    conditions: [source, copyright, same],
  },
  'gpl-2.0': {
    text: 'GPL-2.0',
    nickname: 'GNU GPLv2',
    source: 'https://www.gnu.org/licenses/old-licenses/gpl-2.0.txt',
    description: 'Whoever passes the program on passes on its source, under the same license.',
    conditions: [copyright, changes, source, same],
  },
  'gpl-3.0': {
    text: 'GPL-3.0',
    nickname: 'GNU GPLv3',
    featured: true,
    source: 'https://www.gnu.org/licenses/gpl-3.0.txt',
    description: 'Whoever passes the program on passes on its source, with patents and on open devices.',
    conditions: [copyright, changes, source, same],
  },
  isc: {
    text: 'ISC',
    source: 'https://opensource.org/licenses/ISC',
    description: 'Says what the MIT License says, in fewer words.',
    conditions: [copyright],
    withoutPatents: true,
  },
  'lgpl-2.1': {
    text: 'LGPL-2.1',
    nickname: 'GNU LGPLv2.1',
    source: 'https://www.gnu.org/licenses/old-licenses/lgpl-2.1.txt',
    description: 'For libraries: changes of the library stay open, programs that use it need not be.',
    conditions: [copyright, source, same],
  },
  'lgpl-3.0': {
    text: 'LGPL-3.0',
    nickname: 'GNU LGPLv3',
    source: 'https://www.gnu.org/licenses/lgpl-3.0.txt',
    description: 'For libraries: permissions on top of the GNU GPLv3 for programs that use them.',
    conditions: [copyright, source, same],
  },
  mit: {
    text: 'MIT',
    featured: true,
    source: 'https://opensource.org/licenses/MIT',
    description: 'Short: do what you like, keep the notice, expect no warranty.',
    conditions: [copyright],
    withoutPatents: true,
  },
  'mpl-2.0': {
    text: 'MPL-2.0',
    source: 'https://www.mozilla.org/media/MPL/2.0/index.txt',
    description: 'File by file: changed files stay open, new ones beside them may have other terms.',
    conditions: [source, copyright, same],
    limitations: ['no-liability', 'trademark-use'],
  },
  unlicense: {
    text: 'Unlicense',
    source: 'https://unlicense.org/UNLICENSE',
    description: 'Gives the work to the public, without any condition.',
    conditions: [],
    withoutPatents: true,
  },
};

export const licenses: readonly License[] = Object.entries(facts).map(([key, fact]) => ({
  key,
  name: official[fact.text].title,
  nickname: fact.nickname ?? null,
  featured: fact.featured ?? false,
  html_url: `http://choosealicense.com/licenses/${key}/`,
  source_url: fact.source,
  description: fact.description,
  conditions: fact.conditions,
  permissions: fact.withoutPatents ? permissions.filter((word) => word !== 'patent-use') : permissions,
  limitations: fact.limitations ?? ['no-liability'],
  content: official[fact.text].body,
}));

export interface Blanks {
  year: number;
  project?: string | undefined;
  fullname?: string | undefined;
}

const open = '[[{<]';
const close = String.raw`[\]}>]`;
const places = {
  year: new RegExp(`${open}(?:year|yyyy)${close}`, 'gi'),
  project: new RegExp(`${open}(?:project|description|one line[^\\]}>]{1,200}what it does\\.)${close}`, 'gi'),
  fullname: new RegExp(`${open}(?:fullname|name of author|name of copyright owner)${close}`, 'gi'),
};

/** The text of a license with its placeholders filled; one without a value stays. */
export function fillLicense(content: string, blanks: Blanks): string {
  const { project, fullname } = blanks;
  // Functions, so that a dollar in a name is a dollar.
  let text = content.replace(places.year, () => String(blanks.year));
  if (project !== undefined) text = text.replace(places.project, () => project);
  return fullname === undefined ? text : text.replace(places.fullname, () => fullname);
}
