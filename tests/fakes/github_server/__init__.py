"""A GitHub that runs in the tests: HTTP, git and webhooks for real, the state in memory.

    with GitHubServer(tmp_path) as github:
        repository = github.world.create_repository("octo/widgets")
        ...

What it answers parses in the models that are generated from GitHub's own description of its API; the webhooks it
sends are GitHub's recorded ones with fields changed; git is served by git. See `README.md` for what it leaves out.
"""

from tests.fakes.github_server.server import GitHubServer

__all__ = ["GitHubServer"]
