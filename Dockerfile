# The targets `server` and `runner` hold the same program; they differ in what is started, and as which user.
ARG BASE=node:20-bookworm-slim

FROM ${BASE} AS hearth
RUN apt-get update \
  && apt-get install -y --no-install-recommends bzip2 ca-certificates git \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/hearth
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --omit=dev --no-audit --no-fund && npm cache clean --force
COPY . .
# At each start the age of this file tells that the dependencies are those of package-lock.json.
RUN touch node_modules/.package-lock.json
ENV NODE_ENV=production

FROM hearth AS server
RUN mkdir /data && chown node:node /data
ENV HEARTH_DATA_DIR=/data HEARTH_LISTEN=0.0.0.0:3000 HEARTH_SSH_LISTEN=0.0.0.0:2222 HEARTH_BUNDLED_RUNNER=0
USER node
VOLUME /data
EXPOSE 3000 2222
# What `npm start` runs; npm itself would keep the signal of `docker stop` from it.
CMD ["node", "server/start.js"]

# Stays root: which group may use the engine's socket differs from host to host.
FROM hearth AS runner
ENV HEARTH_RUNNER_CONFIG=/config/config.json
VOLUME /config
CMD ["node", "runner/start.js", "run"]
