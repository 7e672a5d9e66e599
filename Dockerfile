# OnceGate in a container. Slim Debian, because not all dependencies have wheels for musl.
#
#   docker build -t oncegate .
#   docker run --read-only -p 8080:8080 --stop-timeout 40 \
#     -v ./tool_manifests:/etc/oncegate/tools:ro -v oncegate:/var/lib/oncegate oncegate
#   docker exec CONTAINER oncegate keys create --subject me --tenant acme --permission orders:read
#
# One container at a time may use the volume: the SQLite store belongs to one host.
ARG PYTHON=3.11-slim-bookworm

FROM python:${PYTHON} AS build
RUN apt-get update \
 && apt-get install --yes --no-install-recommends gcc libc6-dev \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY gateway ./gateway
COPY agent_client ./agent_client
COPY compiling ./compiling
# mypy asks for the types of what the gateway imports, so what compiles needs all of it; none of this environment is in the image.
RUN python -m venv /opt/compiling \
 && /opt/compiling/bin/python -m pip install --only-binary=:all: --upgrade 'pip>=25.1' \
 && /opt/compiling/bin/python -m pip install --prefer-binary --constraint constraints.txt --group compiling '.[gateway]' \
 && /opt/compiling/bin/python -m compiling --wheel /wheel
RUN python -m venv /opt/oncegate \
 && /opt/oncegate/bin/python -m pip install --only-binary=:all: --upgrade 'pip>=25.1' \
 && /opt/oncegate/bin/python -m pip install --prefer-binary --constraint constraints.txt "$(echo /wheel/*.whl)[gateway]" \
 && /opt/oncegate/bin/oncegate version | grep -w compiled

FROM python:${PYTHON}
RUN groupadd --gid 10001 oncegate \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/oncegate --shell /usr/sbin/nologin oncegate \
 && install -d -o 10001 -g 10001 -m 0750 /var/lib/oncegate \
 && install -d -m 0755 /etc/oncegate/tools
COPY --from=build /opt/oncegate /opt/oncegate
# Everything that is written lies in the volume, so that the root may be read-only.
ENV PATH=/opt/oncegate/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    SQLITE_TMPDIR=/var/lib/oncegate \
    ONCEGATE_HOST=0.0.0.0 \
    ONCEGATE_PORT=8080 \
    ONCEGATE_MANIFESTS=/etc/oncegate/tools \
    ONCEGATE_KEYS=/var/lib/oncegate/keys.json \
    ONCEGATE_STORE=sqlite:////var/lib/oncegate/oncegate.db
WORKDIR /var/lib/oncegate
VOLUME /var/lib/oncegate
USER 10001:10001
EXPOSE 8080
# Liveness only: it never touches the store. An orchestrator should ask /readyz as well.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
  CMD ["python", "-c", "import http.client, os, sys; c = http.client.HTTPConnection('127.0.0.1', int(os.environ['ONCEGATE_PORT']), timeout=2); c.request('GET', '/healthz'); sys.exit(c.getresponse().status != 200)"]
ENTRYPOINT ["oncegate"]
CMD ["serve"]
