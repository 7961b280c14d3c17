import { Command, CommanderError } from 'commander';
import { type CommandContext, CommandFault } from './commands/command.ts';
import { addList } from './commands/list.ts';
import { addRegister } from './commands/register.ts';
import { addRun } from './commands/run.ts';
import { addUnregister } from './commands/unregister.ts';
import { addVerify } from './commands/verify.ts';
import { ConfigFault } from './config.ts';
import { RequestFault } from './retry.ts';
import { version } from './version.ts';

const exitCodes = { done: 0, failed: 1, usage: 2 } as const;

/**
 * @param args what follows the program's name.
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage or a config file that cannot be used.
 */
export async function main(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const context: CommandContext = { environment, failed: false };
  try {
    await createProgram(context).parseAsync(args, { from: 'user' });
    return context.failed ? exitCodes.failed : exitCodes.done;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    if (error instanceof ConfigFault) return complain(error.message, exitCodes.usage);
    if (error instanceof CommandFault || error instanceof RequestFault) {
      return complain(error.message, exitCodes.failed);
    }
    throw error;
  }
}

function complain(text: string, exitCode: number): number {
  for (const line of text.split('\n')) process.stderr.write(`hearth-runner: ${line}\n`);
  return exitCode;
}

export function createProgram(context: CommandContext): Command {
  const program = new Command('runner')
    .description('Takes builds from a Hearth server and runs them on this machine.')
    .version(version)
    .exitOverride()
    .showHelpAfterError('(--help shows the options)');
  addRegister(program, context);
  addRun(program, context);
  addVerify(program, context);
  addUnregister(program, context);
  addList(program, context);
  return program;
}
