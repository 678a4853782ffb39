# The service image. It needs an engine to run sandboxes on: give it DOCKER_HOST of a remote or rootless engine, never the
# socket of the machine that holds your secrets.
FROM python:3.11-slim-bookworm AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY bot bot
COPY repo_tools repo_tools
COPY sandbox sandbox
RUN pip install --no-cache-dir --prefix=/install .

FROM python:3.11-slim-bookworm
RUN apt-get update \
    && apt-get install -y --no-install-recommends git ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 10001 agent-fix \
    && install -d -o agent-fix /var/lib/agent-fix
COPY --from=build /install /usr/local
USER agent-fix
ENV AGENT_FIX_STATE_DIR=/var/lib/agent-fix
VOLUME /var/lib/agent-fix
ENTRYPOINT ["agent-fix"]
CMD ["doctor"]
