# The server, with its page:  docker build -f docker/server.Dockerfile -t cutpurse-server .
#
# BASE has Python 3.11 or newer with venv and pip. A site without a registry gives its own: --build-arg BASE=...
# pip's own settings, where it needs some, are a secret of the build:  --secret id=pip,src=$HOME/.config/pip/pip.conf
ARG BASE=docker.io/library/python:3.11.14-slim-bookworm

FROM ${BASE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python3 -m venv /tools && python3 -m venv --without-pip /opt/cutpurse
COPY docker/build.lock docker/server.lock /locks/
RUN --mount=type=secret,id=pip,target=/etc/pip.conf \
    /tools/bin/pip install -q --require-hashes -r /locks/build.lock \
    && /tools/bin/pip --python /opt/cutpurse/bin/python install -q --require-hashes --prefer-binary -r /locks/server.lock
COPY . /src
RUN /tools/bin/pip wheel -q --no-build-isolation --no-deps --no-index -w /wheel /src \
    && /tools/bin/pip --python /opt/cutpurse/bin/python install -q --no-deps --no-index /wheel/*.whl \
    && /tools/bin/pip --python /opt/cutpurse/bin/python check

FROM ${BASE}
# For submitted bots: --build-arg PACKAGES=bubblewrap, and what the bots are written in.
ARG PACKAGES=""
RUN if [ -n "${PACKAGES}" ]; then apt-get update -qq \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ${PACKAGES} > /dev/null \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin; fi
LABEL org.opencontainers.image.title="Cutpurse server" org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/cutpurse /opt/cutpurse
# 10001: nobody's number on usual systems. What is empty and his in the image is so in a new volume, too.
RUN install -d -o 10001 -g 10001 -m 0750 /data && install -d -o 10001 -g 10001 -m 0755 /run/cutpurse
ENV PATH=/opt/cutpurse/bin:$PATH \
    PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    HOME=/data \
    CUTPURSE_ADDRESS=unix:/run/cutpurse/bot.sock \
    CUTPURSE_DB=/data/cutpurse.db \
    CUTPURSE_WEB=0.0.0.0:8080 \
    CUTPURSE_METRICS=127.0.0.1:9100
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 7777 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
    CMD ["python", "-S", "-c", "import urllib.request as web; web.urlopen('http://127.0.0.1:9100/healthz', timeout=2)"]
ENTRYPOINT ["cutpurse"]
CMD ["serve"]
