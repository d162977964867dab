# What bots find as their system, with the SDK and Node:  docker build -f docker/bot.Dockerfile -t cutpurse-bot .
#
# For bots that were handed in (`cutpurse serve --submissions container`), and as the base of a bot of your own:
#     FROM cutpurse-bot
#     COPY . /bot
#     CMD ["cutpurse", "bot", "run", "my_bot.py"]
#
# BASE, pip's settings: as in server.Dockerfile. PACKAGES: of Debian, for bots in other languages and their build steps:
#     --build-arg PACKAGES="nodejs default-jre-headless"
ARG BASE=docker.io/library/python:3.11.14-slim-bookworm

FROM ${BASE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python3 -m venv /tools && python3 -m venv --without-pip /opt/cutpurse
COPY docker/build.lock docker/bot.lock /locks/
RUN --mount=type=secret,id=pip,target=/etc/pip.conf \
    /tools/bin/pip install -q --require-hashes -r /locks/build.lock \
    && /tools/bin/pip --python /opt/cutpurse/bin/python install -q --require-hashes --prefer-binary -r /locks/bot.lock
COPY . /src
RUN /tools/bin/pip wheel -q --no-build-isolation --no-deps --no-index -w /wheel /src \
    && /tools/bin/pip --python /opt/cutpurse/bin/python install -q --no-deps --no-index /wheel/*.whl \
    && /tools/bin/pip --python /opt/cutpurse/bin/python check

FROM ${BASE}
ARG PACKAGES="nodejs"
LABEL org.opencontainers.image.title="Cutpurse bots" org.opencontainers.image.licenses="Apache-2.0"
RUN apt-get update -qq \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ${PACKAGES} > /dev/null \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin
COPY --from=build /opt/cutpurse /opt/cutpurse
# The .proto files lie in the package; a build step is told where.
RUN ln -s "$(/opt/cutpurse/bin/python -c 'import cutpurse.v1 as v1; print(list(v1.__path__)[0])')" /opt/cutpurse/v1 \
    && install -d /opt/cutpurse/proto/cutpurse && ln -s ../../v1 /opt/cutpurse/proto/cutpurse/v1 \
    && install -d -o 10001 -g 10001 -m 0755 /run/cutpurse /bot
ENV PATH=/opt/cutpurse/bin:$PATH \
    PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    HOME=/tmp \
    CUTPURSE_PROTO=/opt/cutpurse/proto
USER 10001:10001
WORKDIR /bot
STOPSIGNAL SIGTERM
# Whether it is alive is known by its server: a bot listens to nobody. It has a process, or it does not run.
HEALTHCHECK NONE
CMD ["cutpurse", "bot", "run", "random"]
