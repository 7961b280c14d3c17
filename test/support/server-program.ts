// A server in a process of its own: `server-program.ts DATA_DIR DATABASE_URL SECRET_KEY [SSH_LISTEN]`. Prints its address
// and, on a second line, the port of SSH.
import pino from 'pino';
import { readConfig } from '../../server/config.ts';
import { startServer } from '../../server/serve.ts';

const [dataDir, databaseUrl = '', secretKey, sshListen = ''] = process.argv.slice(2);
const read = readConfig({
  HEARTH_DATA_DIR: dataDir,
  HEARTH_LISTEN: '127.0.0.1:0',
  HEARTH_SSH_LISTEN: sshListen,
  HEARTH_SECRET_KEY: secretKey,
  HEARTH_ROOT_PASSWORD: 'root-password',
});
if ('faults' in read) throw new Error(read.faults.join('\n'));
const log = pino({ level: 'error' }, pino.destination(2));
const server = await startServer(read.config, databaseUrl, log);
process.stdout.write(`${server.services.baseUrl}\n${server.services.sshPort}\n`);
