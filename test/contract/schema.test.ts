import test from 'ava';
import { entities } from '../../server/entities/index.ts';
import { migrations } from '../../server/migrations/index.ts';
import { withApp } from '../support/app.ts';
import { foldersAndFiles, sourceFiles } from './source-files.ts';

const holder = withApp();
const migrationFiles = sourceFiles(['server/migrations']).filter(
  ({ path }) => !/\/(?:index|names)\.ts$/.test(path),
);

test.serial('the migrated schema is what the entities say', async (t) => {
  t.is(await holder.app.services.orm.schema.getUpdateSchemaSQL({ wrap: false }), '');
});

test.serial('a column that only an entity has, or only the database, is noticed', async (t) => {
  const { app } = holder;
  await app.rows('alter table pushes add column extra int');
  await app.rows('alter table settings rename column max_artifacts_size to other');
  const difference = await app.services.orm.schema.getUpdateSchemaSQL({ wrap: false });
  await app.rows('alter table pushes drop column extra');
  await app.rows('alter table settings rename column other to max_artifacts_size');
  t.regex(difference, /drop column "extra"/);
  t.regex(difference, /max_artifacts_size/);
});

test('every entity is listed and has its table in a migration', (t) => {
  const listed = new Set(entities.map(({ meta }) => meta.tableName));
  const declared = sourceFiles(['server/entities']).flatMap(({ text }) =>
    [...text.matchAll(/tableName: '(\w+)'/g)].map((match) => match[1]),
  );
  t.deepEqual([...listed].sort(), declared.sort());
  const made = migrationFiles.flatMap(({ text }) =>
    [...text.matchAll(/create table "(\w+)"/g)].map((match) => match[1]),
  );
  t.deepEqual(
    [...listed].filter((table) => made.filter((name) => name === table).length !== 1),
    [],
  );
});

test('every migration is listed once, in the order of their dates, and ran', async (t) => {
  const files = foldersAndFiles('server/migrations').map((path) => path.replace(/^.*\/|\.ts$/g, ''));
  const names = migrations.map(({ name }) => name);
  t.deepEqual([...names].sort(), files.filter((name) => name !== 'index' && name !== 'names').sort());
  const dates = names.map((name) => name.slice(0, 8));
  t.deepEqual(dates, [...dates].sort());
  t.is(new Set(migrations.map((migration) => migration.class)).size, names.length);
  const ran = await holder.app.rows<{ name: string }>('select name from schema_migrations order by id');
  t.deepEqual(
    ran.map(({ name }) => name),
    names,
  );
});

test('every table is of an entity, or of the list of migrations', async (t) => {
  const tables = await holder.app.rows<{ tablename: string }>(
    "select tablename from pg_tables where schemaname = 'public' order by tablename",
  );
  const known = [...entities.map(({ meta }) => meta.tableName), 'schema_migrations'].sort();
  t.deepEqual(
    tables.map(({ tablename }) => tablename),
    known,
  );
});
