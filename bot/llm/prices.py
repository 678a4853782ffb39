"""What a completion costs, by the price lists that genai-prices ships; nothing is fetched."""

from __future__ import annotations

import genai_prices

from bot.llm.port import Usage


def price(model: str, usage: Usage, base_url: str | None = None) -> float | None:
    """US dollars, or `None` if nobody lists a price for `model`.

    The provider is known by `base_url`; behind any other address (a proxy, a company's gateway) the list price of
    the model's name counts, so that a budget holds there too.
    """
    counted = genai_prices.Usage(
        input_tokens=usage.input, output_tokens=usage.output, cache_read_tokens=usage.cached_input or None
    )
    for url in dict.fromkeys((base_url, None)):
        try:
            return float(genai_prices.calc_price(counted, model, provider_api_url=url).total_price)
        except LookupError:
            continue
    return None
