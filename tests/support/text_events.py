"""Events that carry one piece of text, of every kind of stream; `%b` is where it goes."""

CHAT = b'data: {"id":"x","choices":[{"index":0,"delta":{"content":"%b"},"finish_reason":null}],"usage":null}\n\n'
COMPLETION = b'data: {"id":"x","choices":[{"index":0,"text":"%b","finish_reason":null}]}\n\n'
KIND = b"response.output_text.delta"
DELTA = b'event: %b\ndata: {"delta":"%%b","type":"%b"}\n\n' % (KIND, KIND)
MESSAGE = (
    b"event: content_block_delta\n"
    b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%b"}}\n\n'
)
