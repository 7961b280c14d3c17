/** What OpenSSH's own `ssh-keygen` made, and the fingerprints that it printed for them (`-l -E md5`, `-l -E sha256`). */
export const opensshKeys = {
  'rsa 2048': {
    line: 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQCS0IJ1B30Qn6IlObWp11GG+SZjbnCSyKnCo3DMWY9wrW0/b93Ixf6R9kpbWJ0jGCqhW7cEyyVmh3eJ92/julHSELnAm3pjzSKgU50+WQf7bWbIfrS90YHncZfkmLMlAAR7Z+0wfSVjY9Ra5Yf8WqANxhDVl0o1PvjRTmVk+ISPM9J3rkdJ8DFUV9cepVWB0YWYTG5EaenmRkjohiJ7SK3FV4j/wL2mjdq1Mzl0fliS0HG2Ph+BORpWM1q6B0beXswh/D5SoizmurLzNh+3Uw0iCLd+7H2APvDpzXUyEh6D8nw+LtMr6Mj/EklYlT8OeCxtiaC6wbP75YMLTtG9BLsV a b  c',
    md5: '32:a6:74:36:f4:50:11:3b:8b:ab:c0:4c:56:70:5a:c4',
    sha256: 'SHA256:W6ftv4LjvC2aHWUkuV/th5DTOh8gLMtYSrI+ldtUpjw',
  },
  'rsa 3072': {
    line: 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC1OMLIvfNnAF1qEFOu9ZVP5iGzSoKHVM6WExbcWXCU6ST7RI8ThKoiocvVp5g9VN843A9N0E8Gvs9JhIkRB+4ut0BpAzKPZHhHhw9/AiX64Na8hclT2Hujpg4sddkvjVhdzdUWUIbqJmzVs6BrVNgDvjUb4tLgNG7RtfiKZNHX59BFktsAZGROfmvK2/22mekRDUuy6cdjZ6FK92Bz3EXVKGseacNSFpqbKMvqlIsWhuyJNu/AijD8lsj2TMTEZe5jQm2hZ0AW8oWNvom+t103Z7O2QUzxxDyaqQdkm5Wh4w8ka5M9YtnLZ2J5iWgy4DU65FtnVjNak9+04VY51ftNpiINgQ8sVNiMbxFDuK9jTwd+xgsYShGrQe6OntizcXdYr1XV2ru2munIMwLM41DdqH7Qitx8E7vPf78pWBEYzZYLhAmUE1edc6tdi5UQw4XHfNAEtWVg3a2K8JsvOVS8uPC53J4sawIE94+4l6Fi9jImwSNfAVC9XhXFKKoODy8= a b  c',
    md5: '29:f8:97:da:74:b7:fa:fe:b8:78:1e:03:41:e6:35:e4',
    sha256: 'SHA256:VuxfFaCc7iJvSt0KB1xijHB8nuvtOjPEqz0zeAQBTis',
  },
  'ecdsa 256': {
    line: 'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBIhF+1WywA2emRexW9ya/pEQ0EBfiXhaYYojUto8EU8sYDSCcGkxZD5H8eg2JcutUteN8CwzUlegaTintl1BvfA= a b  c',
    md5: '09:37:94:4a:f7:fb:59:40:08:ce:ae:49:4d:28:f0:14',
    sha256: 'SHA256:ud5IYp3TEJF9KLOA2OryDLXuT2TIMiICuXcJq/nETFY',
  },
  'ecdsa 384': {
    line: 'ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBGZXqaMPGf9xlZhBFjnLZY+lp6ty0lAUzGBRMSWhXzQ0+00eRYpaBU10eM5d4nwN7CLpwin2nE6L22OZXtL8ODJSKDc0PABs+WlzX9mfJbzVcgx6thN+DSssHqEpD/06WQ== a b  c',
    md5: '4a:c1:17:55:22:83:11:51:31:d5:77:98:15:0e:70:b4',
    sha256: 'SHA256:lokRo6aV5xlwuemZy0W7OuYDwMu3sHGdZ1ltTkgHPUk',
  },
  'ecdsa 521': {
    line: 'ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAGNi80/378VPhthy2zEJ+28WLA7MJDkvG+YeFHQPR9jXZhLb8K8ifYHJ9qn7n9aKIswTpTDs2iC1oaXVB+unsz9RwFjhshF7emCSKF1GLZiQYG1IQZcm04TvY0W/AlriME9lrquSam4ScgCeGttrY3/OEULS+uh2cuyDRF0ix3lZIkxzA== a b  c',
    md5: '76:c1:e4:ab:48:18:a7:c7:0f:77:bd:7e:15:b1:2b:76',
    sha256: 'SHA256:DN3dmURmKgp7AQJMSQT6LnuSMCG7ERByw3BSFHBjE9k',
  },
  'ed25519 256': {
    line: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKYHLDLta5CqVPHd4oOQ5X+Edef8X/ASbMHeXAd4SxtO a b  c',
    md5: 'c5:e3:7e:a6:68:67:1f:91:82:56:3c:4e:71:38:ce:fb',
    sha256: 'SHA256:4siniVwwCDQIIRuDzi/EHw6LOfRUpggD39K5olgy9lw',
  },
} as const;
