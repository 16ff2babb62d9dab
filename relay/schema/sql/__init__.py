"""SQL text as tokens, and a cursor that reads them."""
