/** A service of a build: its image and the host names it is reached by. */
export interface ServiceName {
  image: string;
  aliases: string[];
}

/**
 * Splits the image text of a service into host names: without tag, digest and port of a registry, every `/`
 * becomes `__` in one name and `-` in the other.
 */
export function serviceAliases(image: string): string[] {
  const path = withoutRegistryPort(withoutTag(image)).toLowerCase();
  return [...new Set([path.replaceAll('/', '__'), path.replaceAll('/', '-')])];
}

/** Gives each service the aliases nobody before it took; `warn` hears of every alias that was taken. */
export function assignAliases(images: string[], warn: (text: string) => void): ServiceName[] {
  const taken = new Set<string>();
  const services: ServiceName[] = [];
  for (const image of images) {
    const wanted = serviceAliases(image);
    const aliases = wanted.filter((alias) => !taken.has(alias));
    for (const alias of wanted) {
      if (taken.has(alias)) warn(`Service ${image}: the host name ${alias} is taken by another service.`);
      taken.add(alias);
    }
    if (aliases.length > 0) services.push({ image, aliases });
    else warn(`Service ${image} is not started: no host name is left for it.`);
  }
  return services;
}

function withoutTag(image: string): string {
  const name = image.replace(/@.*$/, '');
  const colon = name.lastIndexOf(':');
  // A colon before the last slash belongs to the port of the registry.
  return colon > name.lastIndexOf('/') ? name.slice(0, colon) : name;
}

function withoutRegistryPort(name: string): string {
  return name.replace(/^([^/]+):\d+\//, '$1/');
}
