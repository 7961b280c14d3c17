/** Settings given on the command line at each start, so that a newer Hearth changes them for old clusters too. */
export function serverSettings(server: { socketDir: string; durable: boolean }): string[] {
  const settings: Record<string, string> = {
    listen_addresses: '',
    unix_socket_directories: server.socketDir,
    unix_socket_permissions: '0700',
    cluster_name: 'hearth',
    max_connections: server.durable ? '100' : '300',
    // Small on purpose: server and database together have to be a light guest when idle.
    shared_buffers: server.durable ? '64MB' : '128MB',
    maintenance_work_mem: '64MB',
    io_method: 'sync',
    max_logical_replication_workers: '0',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '',
    log_checkpoints: 'off',
    // Errors reach the caller anyway, and their statements may hold secrets.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    ...(server.durable ? {} : WITHOUT_DURABILITY),
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

const WITHOUT_DURABILITY = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '4GB',
  checkpoint_timeout: '1h',
  autovacuum: 'off',
};
