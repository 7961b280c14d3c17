/** Why a repository cannot be imported, in words for the owner of the project. Trying again does not help. */
export class ImportFault extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ImportFault';
  }
}
