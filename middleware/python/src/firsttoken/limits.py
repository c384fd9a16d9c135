"""What the wire format allows. The same bounds as ``contract/limits.ts``, to which the tests hold them."""

#: One hour in nanoseconds: a longer piece of work means that two clocks were mixed.
MAX_STAGE_NS = 3_600_000_000_000
#: Named pieces of work that are kept with a request.
MAX_SUB_STAGES = 16
#: Characters of a sub-stage's name.
MAX_SUB_STAGE_NAME = 64
#: Characters of a trace id in any spelling.
MAX_TRACE_ID_LENGTH = 128
#: Characters of a descriptive text such as ``model`` or ``route``.
MAX_TEXT_LENGTH = 128
#: Characters of a ``Server-Timing`` value.
MAX_SERVER_TIMING_LENGTH = 8_192
#: Tokens that one request can have read or written.
MAX_TOKENS = 100_000_000
#: Bytes of one server-sent event; a longer one is dropped up to its blank line.
MAX_SSE_EVENT_BYTES = 1_048_576
