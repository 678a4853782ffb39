"""Nothing of the hidden tests may reach a model: every request is read before it is sent."""

from __future__ import annotations

import re

from bot.bench.tasks import FunctionTask, assertions
from bot.errors import AgentFixError
from bot.llm.port import Completion, Model, Request

SHORTEST = 24
"""Signs of an assertion, without layout, below which finding it again says nothing."""
LAYOUT = re.compile(r"[\s\\\"']+")


class HiddenTestShown(AgentFixError):
    """A request holds text of the hidden tests: the harness is wrong, and its results are worth nothing."""


class Guarded:
    """A `Model` that asks another one, after it has made sure that no request shows the hidden tests.

    What the model has written itself in this run is no leak: it may come upon the same assertion.
    """

    def __init__(self, model: Model, task: FunctionTask) -> None:
        self._model = model
        public = bare(task.public + task.task.body)
        texts = [bare(one) for one in assertions(task.hidden)] + [bare(line) for line in task.hidden.splitlines()]
        self._hidden = {one for one in texts if len(one) >= SHORTEST and one not in public} | {task.marker}
        self._own = ""
        self.requests = 0
        """How many were read and sent."""

    def complete(self, request: Request) -> Completion:
        """Raises `HiddenTestShown`, and what the model raises."""
        shown = bare("\n".join(message.content for message in request.messages))
        for text in sorted(self._hidden):
            if text in shown and text not in self._own:
                raise HiddenTestShown(f"A request of {request.agent} shows a hidden test: {text[:80]}")
        self.requests += 1
        completion = self._model.complete(request)
        said = [completion.text, *(call.arguments.replace("\\n", "\n") for call in completion.tool_calls)]
        self._own += bare("\n".join(said))
        return completion


def bare(text: str) -> str:
    """`text` without layout and quotes, in which the same code may be written."""
    return LAYOUT.sub("", text)
